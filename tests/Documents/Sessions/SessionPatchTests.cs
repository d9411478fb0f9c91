using Treepie.Sessions;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>Patches of sessions: changes made where a document is stored.</summary>
public sealed class SessionPatchTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;
    private readonly DocumentSession _session;

    public SessionPatchTests()
    {
        _database = Database.Open(_directory.Path);
        using (DocumentSession session = _database.OpenSession())
        {
            session.Store(new Page { Id = "pages/1", Title = "a", Tags = ["x"], Votes = { ["up"] = 1 } });
            session.SaveChanges();
        }

        _session = _database.OpenSession();
    }

    private enum State
    {
        Draft,
        Public,
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _session.Dispose();
        _database.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task Members_are_set_and_incremented_without_loading_the_document()
    {
        _session.Advanced.Patch("pages/1", (Page page) => page.Title, "b");
        _session.Advanced.Patch("pages/1", (Page page) => page.State, State.Public);
        _session.Advanced.Patch("pages/1", (Page page) => page.Author!.Name, "Ada"); // of JSON, where it is made
        _session.Advanced.Increment<Page, int>("pages/1", page => page.Views, 3);
        _session.Advanced.Increment<Page, int>("pages/1", page => page.Votes["up"], 4);
        Assert.True(_session.HasChanges);
        await _session.SaveChangesAsync(Token);
        Assert.False(_session.Advanced.IsLoaded("pages/1"));

        Page page = _session.Load<Page>("pages/1")!; // stored by the constructor
        Assert.Equal(
            ("b", State.Public, "Ada", 3, 5), (page.Title, page.State, page.Author?.Name, page.Views, page.Votes["up"]));
        Assert.False(_session.HasChanges);
    }

    [Fact]
    public async Task Arrays_are_changed_without_loading_the_document()
    {
        _session.Advanced.Patch<Page, string>("pages/1", page => page.Tags, tags => tags.Add("y", "z").RemoveAll("x"));
        _session.Advanced.Patch("pages/1", (Page page) => page.Tags, (ArrayPatch<string> tags) => tags.RemoveAt(1));
        _session.Advanced.Patch<Page, Comment>("pages/1", page => page.Comments, all => all.Add(new Comment { Text = "good" }));
        await _session.SaveChangesAsync(Token);

        Page page = _session.Load<Page>("pages/1")!; // stored by the constructor
        Assert.Equal(["y"], page.Tags);
        Assert.Equal("good", Assert.Single(page.Comments).Text);
    }

    [Fact]
    public async Task An_object_of_the_session_has_the_change_after_the_save_beside_its_own()
    {
        using DocumentSession session = _database.OpenSession(
            options => options with { UseOptimisticConcurrency = true });
        Page page = session.Load<Page>("pages/1")!; // stored by the constructor
        page.Title = "own";
        session.Advanced.Increment(page, own => own.Views, 2);
        await session.SaveChangesAsync(Token);
        Assert.Equal(("own", 2), (page.Title, page.Views));
        Assert.False(session.HasChanges);

        session.Advanced.CountersFor(page).Increment("likes");
        await session.SaveChangesAsync(Token);
        page.Title = "again"; // at the change vector that the counter gave the document
        await session.SaveChangesAsync(Token);
        Assert.Equal(("again", 2), (Stored().Title, Stored().Views));
    }

    [Fact]
    public async Task A_document_that_is_not_there_is_added_if_an_object_is_given()
    {
        _session.Advanced.Increment<Page, int>("pages/2", page => page.Views, 1);
        await _session.SaveChangesAsync(Token);
        Assert.Null(_session.Load<Page>("pages/2"));

        for (int i = 0; i < 3; i++)
        {
            _session.Advanced.AddOrIncrement("pages/3", new Page { Title = "new", Views = 10 }, page => page.Views, 1);
            _session.Advanced.AddOrPatch("pages/4", new Page { Title = "new" }, page => page.Title, $"patched {i}");
            _session.Advanced.AddOrPatch<Page, string>("pages/5", new Page(), page => page.Tags, tags => tags.Add("t"));
            await _session.SaveChangesAsync(Token);
        }

        Assert.Equal(12, _session.Load<Page>("pages/3")?.Views);
        Assert.Equal("patched 2", _session.Load<Page>("pages/4")?.Title);
        Assert.Equal(["t", "t"], _session.Load<Page>("pages/5")?.Tags ?? []);
        Assert.Equal(5 - 1, await _session.Query<Page>().CountAsync(Token)); // their collection is that of the type
    }

    [Fact]
    public async Task Increments_of_many_sessions_lose_nothing()
    {
        await Parallel.ForEachAsync(
            Enumerable.Range(0, 64), Token, async (_, token) =>
            {
                using DocumentSession session = _database.OpenSession();
                session.Advanced.Increment<Page, int>("pages/1", page => page.Views, 1);
                await session.SaveChangesAsync(token);
            });
        Assert.Equal(64, Stored().Views);
    }

    [Fact]
    public async Task A_patch_that_cannot_be_done_refuses_the_save_and_changes_nothing()
    {
        _session.Store(new Page { Id = "pages/9" });
        _session.Advanced.Patch<Page, string>("pages/1", page => page.Tags, tags => tags.RemoveAt(7));
        var error = await Assert.ThrowsAsync<ScriptException>(() => _session.SaveChangesAsync(Token));
        Assert.Contains("'pages/1'", error.Message, StringComparison.Ordinal);
        Assert.Contains("no element 7", error.Message, StringComparison.Ordinal);
        using DocumentSession other = _database.OpenSession();
        Assert.Null(other.Load<Page>("pages/9"));
    }

    [Fact]
    public void What_names_no_member_is_refused_at_once()
    {
        Assert.Throws<NotSupportedException>(() => _session.Advanced.Patch("pages/1", (Page page) => page.Id, "x"));
        Assert.Throws<NotSupportedException>(
            () => _session.Advanced.Patch("pages/1", (Page page) => page.Comments.Select(one => one.Text).First(), "x"));
        Assert.Throws<NotSupportedException>(() => _session.Advanced.Increment<Page, int>("pages/1", page => page.Views + 1, 1));
        Assert.Throws<InvalidOperationException>(() => _session.Advanced.Increment(new Page(), page => page.Views, 1));
        Assert.False(_session.HasChanges);
    }

    private Page Stored()
    {
        using DocumentSession session = _database.OpenSession();
        return session.Load<Page>("pages/1")!; // stored by the constructor
    }

    private sealed class Page
    {
        public string? Id { get; set; }

        public string? Title { get; set; }

        public State State { get; set; }

        public Person? Author { get; set; }

        public int Views { get; set; }

        public string[] Tags { get; set; } = [];

        public List<Comment> Comments { get; set; } = [];

        public Dictionary<string, int> Votes { get; set; } = [];
    }

    private sealed class Person
    {
        public string? Name { get; set; }
    }

    private sealed class Comment
    {
        public string? Text { get; set; }
    }
}
