using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization;
using Treepie.Sessions;
using Treepie.Store;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Sessions;

public sealed class DocumentSessionTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public DocumentSessionTests() => _database = Database.Open(_directory.Path);

    public void Dispose()
    {
        _database.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task A_stored_object_is_loaded_as_it_was()
    {
        using (DocumentSession session = _database.OpenSession())
        {
            session.Store(new User { Id = "users/ada", Name = "Ada", Tags = ["x", "é\"\\"] });
            await session.SaveChangesAsync(TestContext.Current.CancellationToken);
        }

        using DocumentSession second = _database.OpenSession();
        User user = Assert.IsType<User>(second.Load<User>("USERS/ada"));

        Assert.Equal(("users/ada", "Ada"), (user.Id, user.Name));
        Assert.Equal(["x", "é\"\\"], user.Tags);
        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.True(snapshot.TryGet("users/ada", out Document document));
        Assert.Equal("Users", document.CollectionName);
        Assert.False(Body(document).ContainsKey("Id"), "the id is the document's, not repeated in it");
    }

    [Fact]
    public async Task An_object_without_an_id_gets_one_at_once_from_a_range_of_its_collection()
    {
        using DocumentSession session = _database.OpenSession();
        var users = Enumerable.Range(0, 40).Select(_ => new User()).ToList();
        users.ForEach(user => session.Store(user));
        var line = new OrderLine();
        session.Store(line);

        Assert.Equal("users/1-A", users[0].Id);
        Assert.Equal(40, users.Select(user => user.Id).Distinct().Count());
        Assert.Equal("OrderLines/1-A", session.GetDocumentId(line));
        await session.SaveChangesAsync(TestContext.Current.CancellationToken);
        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.Equal(
            ["@hilo:2", "OrderLines:1", "Users:40"],
            snapshot.Collections().Select(found => $"{found.Name}:{found.DocumentCount}"));
    }

    [Fact]
    public async Task An_open_id_is_completed_by_the_save()
    {
        using DocumentSession session = _database.OpenSession();
        var first = new User();
        var second = new User();
        var third = new User();
        session.Store(first, "users/");
        session.Store(second, "users|");
        session.Store(third, "users|");

        await session.SaveChangesAsync(TestContext.Current.CancellationToken);

        Assert.Equal(("users/0000000000000000001-A", "users/1", "users/2"), (first.Id, second.Id, third.Id));
        Assert.Same(third, session.Load<User>("users/2"));
    }

    [Fact]
    public async Task Only_what_changed_is_written()
    {
        await Put("users/1", """{"Name":"Ada","Unknown":{"kept":1}, "Tags":[]}""");
        await Put("users/2", """{"Name":"Bob","Tags":[]}""");
        using DocumentSession session = _database.OpenSession();
        User ada = session.Load<User>("users/1")!; // just put
        User bob = session.Load<User>("users/2")!;
        long before = _database.LastEtag;
        Assert.False(session.HasChanges, "fields of the document that the type lacks are no change");

        bob.Name = "Robert";
        Assert.True(session.HasChanges);
        await session.SaveChangesAsync(TestContext.Current.CancellationToken);

        Assert.Equal(before + 1, _database.LastEtag);
        Assert.False(session.HasChanges);
        await session.SaveChangesAsync(TestContext.Current.CancellationToken);
        Assert.Equal(before + 1, _database.LastEtag);
        Assert.Equal("Ada", ada.Name);
        bob.Name = "Rob";
        await session.SaveChangesAsync(TestContext.Current.CancellationToken);
        Assert.Equal(before + 2, _database.LastEtag);
    }

    [Fact]
    public async Task A_document_is_one_object_in_a_session()
    {
        await Put("users/1", """{"Name":"Ada"}""");
        using DocumentSession session = _database.OpenSession();

        User first = session.Load<User>("users/1")!; // just put
        IReadOnlyDictionary<string, User?> many = session.Load<User>(["Users/1", "users/none"]);

        Assert.Same(first, many["users/1"]);
        Assert.Null(many["users/none"]);
        Assert.Same(first, session.LoadStartingWith<User>("users/")[0]);
        Assert.True(session.IsLoaded("USERS/1"));
        Assert.False(session.IsLoaded("users/none"));
        session.Evict(first);
        Assert.False(session.IsLoaded("users/1"));
        Assert.NotSame(first, session.Load<User>("users/1"));
        Assert.Throws<InvalidOperationException>(() => session.Load<OrderLine>("users/1"));
        Assert.Throws<InvalidOperationException>(() => session.Store(new User(), "USERS/1"));
    }

    [Fact]
    public async Task The_second_of_two_writers_fails_where_asked_for_and_its_session_stays_usable()
    {
        await Put("users/1", """{"Name":"Ada"}""");
        using DocumentSession optimistic = _database.OpenSession(
            new SessionOptions { Json = JsonSerializerOptions.Default, UseOptimisticConcurrency = true });
        using DocumentSession careless = _database.OpenSession();
        User mine = optimistic.Load<User>("users/1")!; // just put
        User theirs = careless.Load<User>("users/1")!;
        mine.Name = "mine";
        theirs.Name = "theirs";
        await careless.SaveChangesAsync(TestContext.Current.CancellationToken);

        ConcurrencyException error = await Assert.ThrowsAsync<ConcurrencyException>(
            () => optimistic.SaveChangesAsync(TestContext.Current.CancellationToken));

        Assert.Equal("users/1", error.Id);
        Assert.Equal(optimistic.GetChangeVectorFor(mine), error.ExpectedChangeVector);
        Assert.Equal(careless.GetChangeVectorFor(theirs), error.ActualChangeVector);
        optimistic.Evict(mine);
        mine = optimistic.Load<User>("users/1")!;
        Assert.Equal("theirs", mine.Name);
        mine.Name = "mine after all";
        await optimistic.SaveChangesAsync(TestContext.Current.CancellationToken);
        optimistic.Store(new User(), "users/2");
        await Put("users/2", "{}");
        await Assert.ThrowsAsync<ConcurrencyException>(() => optimistic.SaveChangesAsync(TestContext.Current.CancellationToken));
    }

    [Fact]
    public async Task A_change_vector_of_the_caller_is_checked_whatever_the_options_say()
    {
        using DocumentSession session = _database.OpenSession();
        var ada = new User { Name = "Ada" };
        session.Store(ada, "users/1", changeVector: "");
        Assert.Null(session.GetLastModifiedFor(ada));
        await session.SaveChangesAsync(TestContext.Current.CancellationToken);
        using (DatabaseSnapshot snapshot = _database.BeginRead())
        {
            Assert.True(snapshot.TryGet("users/1", out Document document));
            Assert.Equal(new DateTime(document.LastModifiedTicks, DateTimeKind.Utc), session.GetLastModifiedFor(ada));
        }

        using DocumentSession second = _database.OpenSession();
        second.Store(new User { Name = "Bob" }, "users/1", changeVector: "");
        await Assert.ThrowsAsync<ConcurrencyException>(() => second.SaveChangesAsync(TestContext.Current.CancellationToken));
        second.Clear();
        second.Delete("users/1", "A:77-wrong");
        await Assert.ThrowsAsync<ConcurrencyException>(() => second.SaveChangesAsync(TestContext.Current.CancellationToken));
        Assert.Equal(1, _database.GetStatistics().DocumentCount);
    }

    [Fact]
    public async Task Deletions_by_object_and_by_id_are_saved_and_hide_the_document_before()
    {
        await Put("users/1", "{}");
        await Put("users/2", "{}");
        using DocumentSession session = _database.OpenSession();
        User first = session.Load<User>("users/1")!; // just put
        session.Delete(first);
        session.Delete("users/2");
        session.Delete("users/none");

        Assert.Null(session.Load<User>("users/1"));
        Assert.Null(session.Load<User>("users/2"));
        Assert.Empty(session.LoadStartingWith<User>("users/"));
        Assert.Equal(2, _database.GetStatistics().DocumentCount);
        await session.SaveChangesAsync(TestContext.Current.CancellationToken);

        Assert.Equal(0, _database.GetStatistics().DocumentCount);
        Assert.Throws<InvalidOperationException>(() => session.GetDocumentId(first));
    }

    [Fact]
    public async Task A_document_deleted_in_a_session_can_be_stored_anew_in_another_collection_by_it()
    {
        await Put("things/1", """{"@metadata":{"@collection":"Users"}}""");
        using DocumentSession session = _database.OpenSession();
        session.Delete("things/1");
        session.Store(new OrderLine { Amount = 3 }, "things/1");

        await session.SaveChangesAsync(TestContext.Current.CancellationToken);

        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.True(snapshot.TryGet("things/1", out Document document));
        Assert.Equal("OrderLines", document.CollectionName);
    }

    [Fact]
    public async Task Metadata_is_handed_out_and_its_changes_saved()
    {
        await Put("users/1", """{"Name":"Ada","@metadata":{"@collection":"Users","note":"é","Raven-Node-Type":"User"}}""");
        using DocumentSession session = _database.OpenSession();
        User user = session.Load<User>("users/1")!; // just put
        JsonObject metadata = session.GetMetadataFor(user);
        Assert.False(session.HasChanges, "looking is no change");

        metadata["note"] = "changed";
        metadata["more"] = 1;
        await session.SaveChangesAsync(TestContext.Current.CancellationToken);

        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.True(snapshot.TryGet("users/1", out Document document));
        Assert.Equal("""{"note":"changed","Raven-Node-Type":"User","more":1}""", Encoding.UTF8.GetString(document.Metadata));
        Assert.Equal("Users", document.CollectionName);
        Assert.False(session.HasChanges);
    }

    [Fact]
    public async Task A_changed_object_keeps_the_metadata_of_its_document()
    {
        await Put("users/1", """{"Name":"Ada","@metadata":{"@collection":"Friends","note":1}}""");
        using DocumentSession session = _database.OpenSession();
        session.Load<User>("users/1")!.Name = "Bob"; // just put

        await session.SaveChangesAsync(TestContext.Current.CancellationToken);

        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.True(snapshot.TryGet("users/1", out Document document));
        Assert.Equal(("{\"note\":1}", "Friends"), (Encoding.UTF8.GetString(document.Metadata), document.CollectionName));
    }

    [Fact]
    public async Task Records_required_ids_and_generated_serializers_work()
    {
        using (DocumentSession session = _database.OpenSession(new SessionOptions { Json = SessionTestContext.Default.Options }))
        {
            session.Store(new City("cities/1", "Rome", 2_800_000));
            session.Store(new Country { Id = "countries/1", Name = "Italy" });
            await session.SaveChangesAsync(TestContext.Current.CancellationToken);
        }

        using DocumentSession second = _database.OpenSession(new SessionOptions { Json = SessionTestContext.Default.Options });
        Assert.Equal(new City("cities/1", "Rome", 2_800_000), second.Load<City>("cities/1"));
        Assert.Equal("countries/1", second.Load<Country>("countries/1")?.Id);
        using DatabaseSnapshot snapshot = _database.BeginRead();
        Assert.Equal(["Cities", "Countries"], snapshot.Collections().Select(found => found.Name));
    }

    [Fact]
    public async Task What_does_not_fit_is_refused_in_words()
    {
        await Put("users/1", """{"Name":[1]}""");
        using DocumentSession session = _database.OpenSession();

        TreepieException error = Assert.Throws<TreepieException>(() => session.Load<User>("users/1"));
        Assert.Contains("'users/1' cannot be read as User", error.Message, StringComparison.Ordinal);
        Assert.Throws<InvalidDocumentException>(() => session.Store(new User(), "a\nb"));
        Assert.Throws<InvalidDocumentException>(() => session.Delete(""));
        Assert.Throws<InvalidOperationException>(() => session.Delete(new User()));
        var loop = new Node();
        loop.Next = loop;
        session.Store(loop, "nodes/1");
        await Assert.ThrowsAsync<InvalidDocumentException>(() => session.SaveChangesAsync(TestContext.Current.CancellationToken));
        Assert.Equal(1, _database.GetStatistics().DocumentCount);
    }

    [Fact]
    public async Task Results_of_queries_are_objects_of_the_session_and_projections_are_new_ones()
    {
        using DocumentSession session = _database.OpenSession();
        session.Store(new User { Id = "users/1", Name = "Ada", Tags = ["x"] });
        session.Store(new User { Id = "users/2", Name = "Bob" });
        await session.SaveChangesAsync(TestContext.Current.CancellationToken);

        IReadOnlyList<User> found = await session.QueryAsync<User>(
            "from Users where Name >= $least order by Name desc", new { least = "Ada" }, waitForIndex: true,
            TestContext.Current.CancellationToken);
        IReadOnlyList<User> byDictionary = await session.QueryAsync<User>(
            "from Users where Name in ($names)",
            new Dictionary<string, object?> { ["$names"] = new[] { "Ada", "Eve" } },
            waitForIndex: true,
            TestContext.Current.CancellationToken);
        IReadOnlyList<User> projected = await session.QueryAsync<User>(
            "from Users where Name = 'Ada' select Name", null, waitForIndex: true, TestContext.Current.CancellationToken);

        Assert.Equal(["users/2", "users/1"], found.Select(user => user.Id));
        Assert.Same(found[1], Assert.Single(byDictionary));
        Assert.Equal((null, "Ada"), (projected[0].Id, projected[0].Name));
        Assert.NotSame(found[1], projected[0]);
        session.Delete(found[1]);
        Assert.Equal(
            ["users/2"],
            (await session.QueryAsync<User>("from Users", cancellationToken: TestContext.Current.CancellationToken)).Select(
                user => user.Id));
    }

    [Fact]
    public void A_session_follows_no_more_documents_than_its_limit()
    {
        using DocumentSession session = _database.OpenSession(
            new SessionOptions { Json = JsonSerializerOptions.Default, MaxTrackedDocuments = 2 });
        session.Store(new User());
        session.Store(new User());

        InvalidOperationException error = Assert.Throws<InvalidOperationException>(() => session.Store(new User()));

        Assert.Contains("MaxTrackedDocuments", error.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("User", "Users")]
    [InlineData("Category", "Categories")]
    [InlineData("Day", "Days")]
    [InlineData("Box", "Boxes")]
    [InlineData("Bus", "Buses")]
    [InlineData("Branch", "Branches")]
    [InlineData("Person", "People")]
    [InlineData("SalesPerson", "SalesPeople")]
    [InlineData("Analysis", "Analyses")]
    [InlineData("OrderLine", "OrderLines")]
    [InlineData("News", "News")]
    [InlineData("X", "Xs")]
    public void Collections_are_plurals(string type, string collection) => Assert.Equal(collection, EnglishPlural.Of(type));

    private static JsonObject Body(Document document) => (JsonObject)JsonNode.Parse(document.Body)!; // a document is an object

    private async Task Put(string id, string json) =>
        await _database.WriteAsync(new WriteBatch().Put(id, Encoding.UTF8.GetBytes(json)), TestContext.Current.CancellationToken);

    internal sealed class User
    {
        public string? Id { get; set; }

        public string Name { get; set; } = "";

        public List<string> Tags { get; set; } = [];
    }

    internal sealed class OrderLine
    {
        public int Amount { get; set; }
    }

    internal sealed class Node
    {
        public Node? Next { get; set; }
    }

    internal sealed record City(string Id, string Name, int Population);

    internal sealed class Country
    {
        public required string Id { get; init; }

        public required string Name { get; init; }
    }
}

[JsonSerializable(typeof(DocumentSessionTests.City))]
[JsonSerializable(typeof(DocumentSessionTests.Country))]
internal sealed partial class SessionTestContext : JsonSerializerContext;
