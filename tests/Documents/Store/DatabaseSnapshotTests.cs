using System.Buffers;
using System.Text;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Store;

public sealed class DatabaseSnapshotTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public DatabaseSnapshotTests() => _database = Database.Open(_directory.Path);

    public void Dispose()
    {
        _database.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void An_empty_database_has_nothing_of_anything()
    {
        using DatabaseSnapshot snapshot = _database.BeginRead();

        Assert.Equal((0, 0, 0, ""), (snapshot.LastEtag, snapshot.DocumentCount, snapshot.TombstoneCount, snapshot.ChangeVector));
        Assert.Empty(snapshot.Collections());
        Assert.Empty(Ids(snapshot.ByEtag()));
        Assert.Empty(Ids(snapshot.NewestFirst()));
        Assert.Empty(Ids(snapshot.ByCollection("Users")));
        Assert.Empty(Ids(snapshot.ByPrefix(new DocumentPrefix { StartsWith = "" })));
        using ChangeFeed feed = snapshot.Changes(null, 0);
        Assert.False(feed.MoveNext());
        using ChangeFeed unknown = snapshot.Changes("Users", 0);
        Assert.False(unknown.MoveNext());
        Assert.Null(snapshot.Collection("Users"));
    }

    [Fact]
    public async Task A_document_is_written_with_its_metadata_as_clients_read_it()
    {
        await Put("users/\"1\\", """{"a":1,"@metadata":{"@collection":"Us\"ers","x":1,"@id":"lies"}}""");
        await Put("empty", "{}");
        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.True(snapshot.TryGet("users/\"1\\", out Document document));
        Assert.True(snapshot.TryGet("empty", out Document empty));
        string time = new DateTime(document.LastModifiedTicks, DateTimeKind.Utc).ToString(
            "yyyy-MM-dd'T'HH:mm:ss.fffffff'Z'", System.Globalization.CultureInfo.InvariantCulture);
        string metadata =
            $$"""{"x":1,"@id":"users/\"1\\","@collection":"Us\"ers","@change-vector":"{{document.ChangeVector}}","@last-modified":"{{time}}"}""";

        Assert.Equal($$"""{"a":1,"@metadata":{{metadata}}}""", Text(document));
        Assert.Equal($$"""{"@metadata":{{metadata}}}""", Text(document, metadataOnly: true));
        Assert.Equal(
            "{\"@metadata\":" + metadata[..^1] + ",\"@index-score\":1.5}}", Text(document, true, "\"@index-score\":1.5"));
        Assert.StartsWith("""{"@metadata":{"@id":"empty","@collection":"@empty",""", Text(empty), StringComparison.Ordinal);
        Assert.Equal("{}", Encoding.UTF8.GetString(empty.Metadata));
        Assert.Matches("^A:1-[A-Za-z0-9+/]{22}$", document.ChangeVector);
    }

    [Fact]
    public async Task A_snapshot_never_changes()
    {
        await Put("users/1", """{"n":1,"@metadata":{"@collection":"Users"}}""");
        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.True(snapshot.TryGet("users/1", out Document before));
        using DocumentCursor cursor = snapshot.ByCollection("Users");
        await Put("users/1", """{"n":2,"@metadata":{"@collection":"Users"}}""");
        await Put("users/2", """{"n":3,"@metadata":{"@collection":"Others"}}""");
        await _database.WriteAsync(new WriteBatch().DeleteByPrefix("users/"), TestContext.Current.CancellationToken);

        Assert.True(snapshot.TryGet("users/1", out Document document));
        Assert.Equal("{\"n\":1}", Encoding.UTF8.GetString(document.Body));
        Assert.Equal(1, snapshot.LastEtag);
        Assert.True(cursor.MoveNext());
        Assert.Equal("{\"n\":1}", Encoding.UTF8.GetString(cursor.Current.Body));
        Assert.Equal("Users", Assert.Single(snapshot.Collections()).Name);
    }

    [Theory]
    [InlineData("users/", null, null, null, "users/1,users/10,users/2,users/ab")]
    [InlineData("USERS/1", null, null, null, "users/1,users/10")]
    [InlineData("users/", "1*", null, null, "users/1,users/10")]
    [InlineData("users/", "1*|A?", null, null, "users/1,users/10,users/ab")]
    [InlineData("users/", "?", null, null, "users/1,users/2")]
    [InlineData("users/", null, "*1*", null, "users/2,users/ab")]
    [InlineData("users/", "1*", "*0", null, "users/1")]
    [InlineData("users/", null, null, "users/10", "users/2,users/ab")]
    [InlineData("users/", null, null, "USERS/100", "users/2,users/ab")]
    [InlineData("users/", null, null, "a", "users/1,users/10,users/2,users/ab")]
    [InlineData("users/", null, null, "z", "")]
    [InlineData("", null, null, null, "orders/1,users/1,users/10,users/2,users/ab")]
    [InlineData("", "*1", null, null, "orders/1,users/1")]
    [InlineData("nobody", null, null, null, "")]
    public async Task Documents_are_listed_by_prefix_patterns_and_place(
        string startsWith, string? matches, string? exclude, string? startAfter, string expected)
    {
        foreach (string id in (string[])["users/2", "users/10", "users/1", "orders/1", "users/ab"])
            await Put(id, "{}");
        using DatabaseSnapshot snapshot = _database.BeginRead();

        List<string> found = Ids(
            snapshot.ByPrefix(
                new DocumentPrefix { StartsWith = startsWith, Matches = matches, Exclude = exclude, StartAfter = startAfter }));

        Assert.Equal(expected, string.Join(',', found));
    }

    [Fact]
    public async Task Prefixes_longer_than_any_id_find_nothing()
    {
        await Put("users/1", "{}");
        using DatabaseSnapshot snapshot = _database.BeginRead();

        Assert.Empty(Ids(snapshot.ByPrefix(new DocumentPrefix { StartsWith = new string('x', 100_000) })));
        Assert.Equal(
            ["users/1"], Ids(snapshot.ByPrefix(new DocumentPrefix { StartsWith = "", StartAfter = new string('a', 100_000) })));
        Assert.Empty(Ids(snapshot.ByCollection(new string('x', 100_000))));
    }

    [Fact]
    public async Task Paging_by_the_last_id_goes_through_all_documents_once()
    {
        var random = new Random(Seed.Next());
        for (int index = 0; index < 200; index++)
            await Put($"a/{random.Next(10_000)}", "{}");
        using DatabaseSnapshot snapshot = _database.BeginRead();
        List<string> all = Ids(snapshot.ByPrefix(new DocumentPrefix { StartsWith = "a/" }));
        var paged = new List<string>();
        while (Ids(snapshot.ByPrefix(new DocumentPrefix { StartsWith = "a/", StartAfter = paged.LastOrDefault() }))
            .Take(7)
            .ToList() is { Count: > 0 } page)
            paged.AddRange(page);

        Assert.Equal(all, paged);
        Assert.Equal(snapshot.DocumentCount, paged.Count);
    }

    [Fact]
    public async Task Who_follows_a_collection_learns_that_a_document_left_it_for_another()
    {
        await Put("x", """{"@metadata":{"@collection":"A"}}""");
        await _database.WriteAsync(new WriteBatch().Delete("x"), TestContext.Current.CancellationToken);
        await Put("x", """{"@metadata":{"@collection":"B"}}""");
        await _database.WriteAsync(new WriteBatch().Delete("x"), TestContext.Current.CancellationToken);
        using (DatabaseSnapshot snapshot = _database.BeginRead())
        {
            Assert.Equal(["2-x"], Feed(snapshot, "A"));
            Assert.Equal(["4-x"], Feed(snapshot, "B"));
            Assert.Equal(["4-x"], Feed(snapshot, null));
            Assert.Equal(4, snapshot.Collection("b")?.LastEtag);
            Assert.Equal(2, snapshot.Collection("a")?.LastEtag);
            Assert.Empty(snapshot.Collections());
        }

        await Put("X", """{"@metadata":{"@collection":"a"}}""");
        using (DatabaseSnapshot snapshot = _database.BeginRead())
        {
            Assert.Equal(["5+X"], Feed(snapshot, "A"));
            Assert.Equal(["4-x"], Feed(snapshot, "B"));
            Assert.Equal(["5+X"], Feed(snapshot, null));
        }
    }

    [Fact]
    public async Task Tombstones_are_forgotten_up_to_an_etag()
    {
        for (int index = 0; index < 5; index++)
            await Put($"x/{index}", "{}");
        await _database.WriteAsync(new WriteBatch().DeleteByPrefix("x/"), TestContext.Current.CancellationToken);

        Assert.Equal(3, await _database.PurgeTombstonesAsync(8, TestContext.Current.CancellationToken));
        Assert.Equal(0, await _database.PurgeTombstonesAsync(8, TestContext.Current.CancellationToken));

        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.Equal(["9-x/3", "10-x/4"], Feed(snapshot, null));
        Assert.Equal(["9-x/3", "10-x/4"], Feed(snapshot, "@empty"));
        await Put("x/0", "{}");
        await Put("x/4", "{}");
        Assert.Equal(1, _database.GetStatistics().TombstoneCount);
    }

    [Theory]
    [InlineData("users/ADA", "USERS/ada")]
    [InlineData("ÜNÏT/É", "ünït/é")]
    [InlineData("ΑΒΓ", "αβγ")]
    [InlineData("𐐀", "𐐨")]
    [InlineData("\u212a", "k")]
    public async Task Ids_are_compared_without_case_and_keep_their_first_spelling(string first, string second)
    {
        await Put(first, """{"n":1}""");
        await Put(second, """{"n":2}""");
        using DatabaseSnapshot snapshot = _database.BeginRead();

        Assert.Equal(1, snapshot.DocumentCount);
        Assert.True(snapshot.TryGet(second, out Document document));
        Assert.Equal((first, "{\"n\":2}"), (document.IdText(), Encoding.UTF8.GetString(document.Body)));
        Assert.True(snapshot.TryGet(Encoding.UTF8.GetBytes(second), out Document _));
        Assert.False(snapshot.TryGet(Encoding.UTF8.GetBytes(second + "x"), out Document _));
        Assert.False(snapshot.TryGet([0xC3, 0x28], out Document _));
        Assert.False(snapshot.TryGet("\ud800", out Document _));
    }

    private static List<string> Ids(DocumentCursor cursor)
    {
        var ids = new List<string>();
        using (cursor)
            while (cursor.MoveNext())
                ids.Add(cursor.Current.IdText());
        return ids;
    }

    private static List<string> Feed(DatabaseSnapshot snapshot, string? collection)
    {
        var changes = new List<string>();
        using ChangeFeed feed = snapshot.Changes(collection, 0);
        while (feed.MoveNext())
            changes.Add($"{feed.Etag}{(feed.IsTombstone ? '-' : '+')}{Encoding.UTF8.GetString(feed.Id)}");
        return changes;
    }

    private static string Text(Document document, bool metadataOnly = false, string extra = "")
    {
        var output = new ArrayBufferWriter<byte>();
        document.WriteTo(output, metadataOnly, Encoding.UTF8.GetBytes(extra));
        return Encoding.UTF8.GetString(output.WrittenSpan);
    }

    private async Task Put(string id, string json) =>
        await _database.WriteAsync(new WriteBatch().Put(id, Encoding.UTF8.GetBytes(json)), TestContext.Current.CancellationToken);
}
