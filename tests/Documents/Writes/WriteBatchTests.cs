using System.Text;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Writes;

public sealed class WriteBatchTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public WriteBatchTests() => _database = Database.Open(_directory.Path);

    public void Dispose()
    {
        _database.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task Results_stand_in_the_order_of_the_commands()
    {
        IReadOnlyList<WriteResult> results = await Write(new WriteBatch()
            .Put("users/1", Json("""{"a":1,"@metadata":{"@collection":"Users"}}"""))
            .Delete("users/none")
            .Put("users/2", Json("{}"))
            .Delete("USERS/1")
            .DeleteByPrefix("users/"));

        Assert.Equal(["users/1", "users/none", "users/2", "USERS/1", "users/"], results.Select(result => result.Id));
        Assert.Equal(["Users", null, "@empty", null, null], results.Select(result => result.Collection));
        Assert.Equal([false, false, false, true, true], results.Select(result => result.Deleted));
        Assert.Equal([1, 0, 2, 3, 4], results.Select(result => result.Etag));
        Assert.Equal(
            [ChangeVector(1), null, ChangeVector(2), ChangeVector(3), ChangeVector(4)],
            results.Select(result => result.ChangeVector));
        Assert.Equal(0, _database.GetStatistics().DocumentCount);
    }

    [Fact]
    public async Task An_id_without_end_is_completed_and_never_one_that_is_taken()
    {
        await Write(
            new WriteBatch()
                .Put("users/0000000000000000003-a", Json("{}"))
                .Put("users/2", Json("{}"))
                .Put("users/3", Json("{}")));

        IReadOnlyList<WriteResult> results = await Write(new WriteBatch()
            .Put("users/", Json("{}"))
            .Put("users/", Json("{}"))
            .Put("users|", Json("{}"))
            .Put("USERS|", Json("{}"))
            .Put(null, Json("{}"))
            .Put("", Json("{}")));

        Assert.Equal(
            ["users/0000000000000000004-A", "users/0000000000000000005-A", "users/1", "USERS/4"],
            results.Take(4).Select(result => result.Id));
        Assert.True(Guid.TryParse(results[4].Id, out _) && Guid.TryParse(results[5].Id, out _));
    }

    [Fact]
    public async Task A_server_side_id_passes_over_ids_that_were_written_by_hand()
    {
        await Write(new WriteBatch().Put("users/0000000000000000002-A", Json("{}")));

        IReadOnlyList<WriteResult> results = await Write(new WriteBatch().Put("users/", Json("{}")).Put("users/", Json("{}")));

        Assert.Equal(["users/0000000000000000003-A", "users/0000000000000000004-A"], results.Select(result => result.Id));
    }

    [Fact]
    public async Task A_number_that_is_free_is_found_beyond_any_number_of_taken_ones()
    {
        var taken = new WriteBatch();
        for (int number = 1; number <= 300; number++)
            taken.Put($"users/{number}", Json("{}")).Put($"orders/{number + 600:D19}-A", Json("{}"));
        await Write(taken);

        IReadOnlyList<WriteResult> results = await Write(
            new WriteBatch()
                .Put("users|", Json("{}"))
                .Put("users|", Json("{}"))
                .Put("orders/", Json("{}"))
                .Put("x/", Json("{}")));

        Assert.Equal(
            ["users/301", "users/302", "orders/0000000000000000901-A", "x/0000000000000000902-A"],
            results.Select(result => result.Id));
        Assert.Equal(902, _database.LastEtag);
    }

    [Fact]
    public async Task Identities_count_on_are_seeded_and_listed()
    {
        Assert.Equal(1, await _database.NextIdentityAsync("users|", Token));
        Assert.Equal(2, await _database.NextIdentityAsync("Users", Token));
        Assert.Equal(10, await _database.SeedIdentityAsync("users|", 10, cancellationToken: Token));
        Assert.Equal(10, await _database.SeedIdentityAsync("users|", 5, cancellationToken: Token));
        Assert.Equal(5, await _database.SeedIdentityAsync("users|", 5, force: true, Token));

        IReadOnlyList<WriteResult> results = await Write(new WriteBatch().Put("users|", Json("{}")));

        Assert.Equal("users/6", results[0].Id);
        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.Equal(6, Assert.Single(snapshot.Identities()).Value);
        await Assert.ThrowsAsync<InvalidDocumentException>(() => _database.NextIdentityAsync("", Token));
    }

    [Theory]
    [InlineData("a\nb", "control character U+000A")]
    [InlineData("a\u0000", "control character U+0000")]
    [InlineData("\u007f", "control character U+007F")]
    [InlineData("a\u0085", "control character U+0085")]
    public void An_id_with_what_an_id_may_not_hold_is_refused(string id, string reason)
    {
        InvalidDocumentException error = Assert.Throws<InvalidDocumentException>(() => new WriteBatch().Put(id, Json("{}")));
        Assert.Contains(reason, error.Message, StringComparison.Ordinal);
        Assert.Throws<InvalidDocumentException>(() => new WriteBatch().Delete(id));
        Assert.Throws<InvalidDocumentException>(() => new WriteBatch().DeleteByPrefix(id));
    }

    [Fact]
    public async Task An_id_has_up_to_512_bytes()
    {
        string longest = new('x', 512);
        string longestFolding = string.Concat(Enumerable.Repeat("\u023a", 256)); // two bytes whose lower case has three

        await Write(
            new WriteBatch()
                .Put(longest, Json("{}"))
                .Put(longestFolding, Json("{}"))
                .Put(new string('y', 490) + "/", Json("{}")));

        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.True(snapshot.TryGet(longest.ToUpperInvariant(), out Document _));
        Assert.True(snapshot.TryGet(longestFolding, out Document _));
        Assert.False(snapshot.TryGet(longest + "x", out Document _));
        Assert.False(snapshot.TryGet("", out Document _));
        InvalidDocumentException error = Assert.Throws<InvalidDocumentException>(
            () => new WriteBatch().Put(longest + "x", Json("{}")));
        Assert.Contains("513 bytes in UTF-8, the limit is 512 (MaxIdBytes)", error.Message, StringComparison.Ordinal);
        Assert.Throws<InvalidDocumentException>(() => new WriteBatch().Put(new string('é', 257), Json("{}")));
        Assert.Throws<InvalidDocumentException>(() => new WriteBatch().Put(new string('x', 491) + "/", Json("{}")));
        Assert.Throws<InvalidDocumentException>(() => new WriteBatch().Delete(""));
        Assert.Throws<InvalidDocumentException>(() => new WriteBatch().Put("\ud800", Json("{}")));
    }

    [Fact]
    public async Task A_batch_whose_one_document_is_refused_holds_the_others_still()
    {
        var batch = new WriteBatch().Put("users/1", Json("{}"));
        Assert.Throws<InvalidDocumentException>(() => batch.Put("users/2", Json("{")));
        batch.Put("users/3", Json("""{"a":3}"""));

        await Write(batch);

        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.Equal(2, snapshot.DocumentCount);
        Assert.True(snapshot.TryGet("users/3", out Document document));
        Assert.Equal("""{"a":3}""", Encoding.UTF8.GetString(document.Body));
    }

    [Fact]
    public async Task A_batch_with_a_conflict_changes_nothing_and_says_what_was_expected_and_found()
    {
        await Write(new WriteBatch().Put("users/1", Json("{}")));
        var batch = new WriteBatch()
            .Put("users/2", Json("{}"))
            .Delete("users/1")
            .Put("users/1", Json("{}"), "")
            .Put("users/2", Json("{}"), "A:1-nonsense");

        ConcurrencyException error = await Assert.ThrowsAsync<ConcurrencyException>(() => Write(batch));

        Assert.Equal(
            ("users/2", "A:1-nonsense", ChangeVector(2)), (error.Id, error.ExpectedChangeVector, error.ActualChangeVector));
        DatabaseStatistics statistics = _database.GetStatistics();
        Assert.Equal((1, 0, 1), (statistics.DocumentCount, statistics.TombstoneCount, statistics.LastEtag));
        ConcurrencyException missing = await Assert.ThrowsAsync<ConcurrencyException>(
            () => Write(new WriteBatch().Delete("users/9", ChangeVector(1))));
        Assert.Null(missing.ActualChangeVector);
        ConcurrencyException existing = await Assert.ThrowsAsync<ConcurrencyException>(
            () => Write(new WriteBatch().Put("users/1", Json("{}"), "")));
        Assert.Equal(ChangeVector(1), existing.ActualChangeVector);
    }

    [Fact]
    public async Task A_document_does_not_change_its_collection_in_passing()
    {
        await Write(new WriteBatch().Put("users/1", Json("""{"@metadata":{"@collection":"Users"}}""")));

        InvalidDocumentException error = await Assert.ThrowsAsync<InvalidDocumentException>(
            () => Write(new WriteBatch().Put("users/1", Json("""{"@metadata":{"@collection":"People"}}"""))));

        Assert.Contains("in collection 'Users' and cannot be put into 'People'", error.Message, StringComparison.Ordinal);
        await Write(new WriteBatch().Put("users/1", Json("""{"@metadata":{"@collection":"USERS"}}""")));
        await Write(new WriteBatch().Delete("users/1").Put("users/1", Json("""{"@metadata":{"@collection":"People"}}""")));
        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.Equal("People", Assert.Single(snapshot.Collections()).Name);
    }

    [Fact]
    public async Task A_batch_made_with_other_limits_is_held_to_those_of_the_database()
    {
        using var directory = new TemporaryDirectory();
        using Database strict = Database.Open(
            directory.Path, new DatabaseOptions { MaxDocumentBytes = 20, MaxDocumentDepth = 2, MaxIdBytes = 10 });

        await Assert.ThrowsAsync<InvalidDocumentException>(
            () => strict.WriteAsync(new WriteBatch().Put("1", Json("""{"a":"0123456789012345678"}""")), Token));
        await Assert.ThrowsAsync<InvalidDocumentException>(
            () => strict.WriteAsync(new WriteBatch().Put("1", Json("""{"a":{"b":[]}}""")), Token));
        await Assert.ThrowsAsync<InvalidDocumentException>(
            () => strict.WriteAsync(new WriteBatch().Put("01234567890", Json("{}")), Token));
        Assert.Throws<InvalidDocumentException>(() => new WriteBatch(strict.Options).Put("01234567890", Json("{}")));
        await strict.WriteAsync(new WriteBatch(strict.Options).Put("0123456789", Json("""{"a":{"b":1}}""")), Token);
        Assert.Equal(1, strict.GetStatistics().DocumentCount);
    }

    [Fact]
    public async Task A_document_put_again_with_the_same_content_keeps_its_change_vector_where_asked_for()
    {
        string json = """{"a":1,"@metadata":{"@collection":"Users","x":1}}""";
        await Write(new WriteBatch().Put("users/1", Json(json)));

        await Write(new WriteBatch { SkipUnchanged = true }.Put("users/1", Json(json)));
        Assert.Equal(1, _database.LastEtag);
        await Write(
            new WriteBatch { SkipUnchanged = true }.Put(
                "users/1", Json(json.Replace("\"x\":1", "\"x\":2", StringComparison.Ordinal))));
        Assert.Equal(2, _database.LastEtag);
        await Write(new WriteBatch().Put("users/1", Json(json)));
        Assert.Equal(3, _database.LastEtag);
    }

    [Fact]
    public async Task A_batch_is_used_once_and_an_empty_one_writes_nothing()
    {
        var batch = new WriteBatch().Put("users/1", Json("{}"));
        await Write(batch);

        await Assert.ThrowsAsync<ObjectDisposedException>(() => Write(batch));
        Assert.Throws<ObjectDisposedException>(() => batch.Put("users/2", Json("{}")));
        Assert.Empty(await Write(new WriteBatch()));
        Assert.Equal(1, _database.LastEtag);
    }

    [Fact]
    public async Task The_buffer_of_a_document_may_be_used_again_at_once()
    {
        byte[] buffer = """{"a":1}"""u8.ToArray();
        var batch = new WriteBatch().Put("users/1", buffer);
        buffer.AsSpan().Clear();

        await Write(batch);

        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.True(snapshot.TryGet("users/1", out Document document));
        Assert.Equal("""{"a":1}""", Encoding.UTF8.GetString(document.Body));
    }

    [Fact]
    public async Task Many_writers_at_once_get_etags_of_their_own()
    {
        WriteResult[] results = await Task.WhenAll(Enumerable.Range(0, 200).Select(async index =>
            (await Write(new WriteBatch().Put("users/", Json($$"""{"n":{{index}}}"""))))[0]));

        Assert.Equal(Enumerable.Range(1, 200).Select(etag => (long)etag), results.Select(result => result.Etag).Order());
        Assert.Equal(200, results.Select(result => result.Id).Distinct().Count());
        Assert.Equal(200, _database.GetStatistics().DocumentCount);
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private static ReadOnlyMemory<byte> Json(string json) => Encoding.UTF8.GetBytes(json);

    private string ChangeVector(long etag) => $"A:{etag}-{Convert.ToBase64String(_database.Id.ToByteArray())[..22]}";

    private Task<IReadOnlyList<WriteResult>> Write(WriteBatch batch) => _database.WriteAsync(batch, Token);
}
