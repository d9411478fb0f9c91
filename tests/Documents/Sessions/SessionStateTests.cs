using System.Text.Json.Serialization;
using Treepie.Sessions;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>What a session knows of documents stays right, whatever it is told in whatever order.</summary>
public sealed class SessionStateTests : IDisposable
{
    private readonly Database _database = Database.OpenInMemory();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _database.Dispose();

    [Fact]
    public void A_deleted_object_whose_id_another_took_cannot_come_back()
    {
        Put("pages/1", "old");
        using DocumentSession session = _database.OpenSession();
        Page old = session.Load<Page>("pages/1")!; // stored above
        session.Delete(old);
        var next = new Page { Id = "pages/1", Title = "next" };
        session.Store(next);
        Assert.Contains(
            "Another object", Assert.Throws<InvalidOperationException>(() => session.Store(old)).Message,
            StringComparison.Ordinal);
        Assert.Throws<InvalidOperationException>(() => session.Advanced.Refresh(old));
        Assert.Same(next, session.Load<Page>("pages/1"));
        session.SaveChanges();
        Assert.Equal("next", Read("pages/1"));
        next.Title = "later";
        session.SaveChanges();
        Assert.Equal("later", Read("pages/1"));
    }

    [Fact]
    public void A_document_stays_deleted_when_the_object_that_took_its_id_goes()
    {
        Put("pages/1", "old");
        using DocumentSession session = _database.OpenSession();
        Page old = session.Load<Page>("pages/1")!; // stored above
        session.Delete(old);
        var next = new Page { Id = "pages/1", Title = "next" };
        session.Store(next);
        session.Delete(next);
        Assert.Null(session.Load<Page>("pages/1"));
        session.Store(old); // it is kept after all
        Assert.Same(old, session.Load<Page>("pages/1"));
        session.Delete(old);
        session.SaveChanges();
        Assert.Null(Read("pages/1"));
    }

    [Fact]
    public async Task What_a_save_changed_is_not_answered_with_what_was_brought_along_before()
    {
        foreach (string id in new[] { "pages/2", "pages/3", "pages/4", "pages/5" })
            Put(id, "old");
        Put("pages/1", "first", ["pages/2", "pages/3", "pages/4", "pages/5"]);
        using DocumentSession session = _database.OpenSession();
        session.Include<Page>(page => page.Links).Load<Page>("pages/1");
        session.Delete("pages/2");
        await session.SaveChangesAsync(Token);
        Assert.Null(session.Load<Page>("pages/2"));

        var replaced = new Page { Id = "pages/3", Title = "new" };
        session.Store(replaced);
        await session.SaveChangesAsync(Token);
        session.Evict(replaced);
        Assert.Equal("new", session.Load<Page>("pages/3")?.Title);

        int requests = session.Advanced.NumberOfRequests;
        Assert.Equal("old", session.Load<Page>("pages/4")?.Title); // still known
        Assert.Equal(requests, session.Advanced.NumberOfRequests);

        session.Advanced.Patch("pages/5", (Page page) => page.Title, "patched");
        await session.SaveChangesAsync(Token);
        Assert.Equal("patched", session.Load<Page>("pages/5")?.Title);
    }

    [Fact]
    public void An_object_that_cannot_take_over_a_change_is_not_refreshed_by_half()
    {
        using (DocumentSession first = _database.OpenSession())
        {
            first.Store(new Sealed("a") { Id = "sealeds/1", Note = "x" });
            first.SaveChanges();
        }

        using DocumentSession session = _database.OpenSession();
        Sealed known = session.Load<Sealed>("sealeds/1")!; // stored above
        using (DocumentSession other = _database.OpenSession())
        {
            other.Advanced.Patch("sealeds/1", (Sealed one) => one.Note, "y");
            other.SaveChanges();
        }

        session.Advanced.Refresh(known);
        Assert.Equal("y", known.Note);
        using (DocumentSession other = _database.OpenSession())
        {
            other.Advanced.Patch<Sealed>("sealeds/1", patch => patch.Set(one => one.Name, "b").Set(one => one.Note, "z"));
            other.SaveChanges();
        }

        Assert.Contains(
            "Evict", Assert.Throws<InvalidOperationException>(() => session.Advanced.Refresh(known)).Message,
            StringComparison.Ordinal);
        Assert.Equal(("a", "y"), (known.Name, known.Note));
        Assert.False(session.HasChanges);
    }

    [Fact]
    public void A_patch_of_what_an_object_cannot_take_over_is_not_undone_by_its_next_save()
    {
        using DocumentSession session = _database.OpenSession();
        var known = new Sealed("a") { Id = "sealeds/1" };
        session.Store(known);
        session.SaveChanges();
        session.Advanced.Patch("sealeds/1", (Sealed one) => one.Name, "b");
        session.SaveChanges();
        known.Note = "changed";
        session.SaveChanges();
        using DocumentSession reader = _database.OpenSession();
        Assert.Equal("b", reader.Load<Sealed>("sealeds/1")?.Name);
        Assert.Equal("b", session.Load<Sealed>("sealeds/1")?.Name);
    }

    [Fact]
    public void An_object_that_was_deleted_and_stored_anew_stays_under_its_new_id()
    {
        Put("pages/1", "old");
        using DocumentSession session = _database.OpenSession();
        Page old = session.Load<Page>("pages/1")!; // stored above
        session.Delete(old);
        var next = new Page { Id = "pages/1", Title = "next" };
        session.Store(next);
        session.SaveChanges();
        session.Store(old, "pages/2");
        session.Evict(next);
        Assert.Equal("next", session.Load<Page>("pages/1")?.Title);
        session.Delete("pages/1");
        session.SaveChanges();
        Assert.Null(Read("pages/1"));
        Assert.Equal("old", Read("pages/2"));
    }

    [Fact]
    public void Related_data_of_a_deleted_document_is_forgotten_and_that_of_a_stored_one_kept()
    {
        foreach (string id in new[] { "pages/1", "pages/2" })
        {
            Put(id, "old");
            using DocumentSession first = _database.OpenSession();
            first.CountersFor(id).Increment("likes", 3);
            first.TimeSeriesFor(id, "heat").Append(new DateTime(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc), 1);
            first.SaveChanges();
        }

        using DocumentSession session = _database.OpenSession();
        IReadOnlyDictionary<string, Page?> pages = session.Load<Page>(
            ["pages/1", "pages/2"], includes => includes.IncludeCounter("likes").IncludeTimeSeries("heat"));
        session.Delete(pages["pages/1"]!); // stored above
        pages["pages/2"]!.Title = "new"; // stored above
        session.SaveChanges();
        int requests = session.Advanced.NumberOfRequests;
        Assert.Equal(3, session.CountersFor("pages/2").Get("likes"));
        Assert.Single(session.TimeSeriesFor("pages/2", "heat").Get());
        Assert.Equal(requests, session.Advanced.NumberOfRequests);
        Assert.Null(session.CountersFor("pages/1").Get("likes"));
        Assert.Empty(session.TimeSeriesFor("pages/1", "heat").Get());
    }

    private void Put(string id, string title, List<string>? links = null)
    {
        using DocumentSession session = _database.OpenSession();
        session.Store(new Page { Id = id, Title = title, Links = links ?? [] });
        session.SaveChanges();
    }

    private string? Read(string id)
    {
        using DocumentSession session = _database.OpenSession();
        return session.Load<Page>(id)?.Title;
    }

    private sealed class Page
    {
        public string? Id { get; set; }

        public string? Title { get; set; }

        public List<string> Links { get; set; } = [];
    }

    /// <summary>Has a member that only the constructor sets.</summary>
    [method: JsonConstructor]
    private sealed class Sealed(string name)
    {
        public string? Id { get; set; }

        public string Name { get; } = name;

        public string? Note { get; set; }
    }
}
