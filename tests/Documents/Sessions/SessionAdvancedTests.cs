using System.Text;
using Treepie.Sessions;
using Treepie.Store;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>What sessions do beside loading, storing and asking.</summary>
public sealed class SessionAdvancedTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;
    private readonly DocumentSession _session;

    public SessionAdvancedTests()
    {
        _database = Database.Open(_directory.Path);
        _session = _database.OpenSession();
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _session.Dispose();
        _database.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void What_changed_is_said_member_by_member()
    {
        _session.Store(new Part { Id = "parts/1", Name = "a", Sizes = [1, 2] });
        _session.Store(new Part { Id = "parts/2" });
        Assert.Equal(SessionChangeKind.DocumentAdded, Assert.Single(_session.Advanced.WhatChanged()["parts/1"]).Kind);
        _session.SaveChanges();
        Assert.Empty(_session.Advanced.WhatChanged());

        Part part = _session.Load<Part>("parts/1")!; // just stored
        (part.Name, part.Sizes) = ("b", [1, 3, 4]);
        _session.Delete("parts/2");
        _session.Delete("parts/3");
        IReadOnlyDictionary<string, IReadOnlyList<SessionChange>> changes = _session.Advanced.WhatChanged();

        Assert.Equal(
            ["Changed Name \"a\" \"b\"", "Changed Sizes[1] 2 3", "Added Sizes[2]  4"],
            changes["parts/1"].Select(
                change => $"{change.Kind} {change.Path} {change.OldValue?.ToJsonString()} {change.NewValue?.ToJsonString()}"));
        Assert.Equal(SessionChangeKind.DocumentDeleted, changes["parts/2"][0].Kind);
        Assert.Equal(SessionChangeKind.DocumentDeleted, changes["parts/3"][0].Kind);
        Assert.True(_session.Advanced.HasChanged(part));
    }

    [Fact]
    public void Refreshing_brings_an_object_to_what_its_document_is()
    {
        var part = new Part { Id = "parts/1", Name = "a" };
        _session.Store(part);
        Assert.Throws<InvalidOperationException>(() => _session.Advanced.Refresh(part));
        _session.SaveChanges();
        Change("b");
        part.Sizes = [9];

        _session.Advanced.Refresh(part);

        Assert.Equal(("b", 0), (part.Name, part.Sizes.Length));
        Assert.False(_session.HasChanges);
        Assert.True(_session.Advanced.Exists("PARTS/1"));
        Assert.False(_session.Advanced.Exists("parts/2"));
    }

    [Fact]
    public async Task Streams_are_not_followed()
    {
        for (int i = 0; i < 10; i++)
            _session.Store(new Part { Id = $"parts/{i}", Name = i < 5 ? "low" : "high" });
        await _session.SaveChangesAsync(Token);
        using DocumentSession session = _database.OpenSession();

        var ids = new List<string>();
        await foreach (StreamResult<Part> result in session.Advanced.StreamAsync(
            session.Query<Part>().Where(part => part.Name == "low"), Token))
            ids.Add(result.Document.Id + result.Document.Name);
        Assert.Equal(["parts/0low", "parts/1low", "parts/2low", "parts/3low", "parts/4low"], ids.Order());
        Assert.False(session.IsLoaded("parts/0"));
        int count = 0;
        await foreach (StreamResult<Part> result in session.Advanced.StreamAsync<Part>(
            new DocumentPrefix { StartsWith = "parts/" }, Token))
            count += result.ChangeVector.Length > 0 ? 1 : 0;
        Assert.Equal(10, count);
    }

    [Fact]
    public async Task Counters_and_attachments_are_saved_with_the_documents()
    {
        var part = new Part { Id = "parts/1" };
        _session.Store(part);
        _session.Advanced.CountersFor(part).Increment("views", 3);
        _session.Advanced.Attachments.Store(part, "photo", new MemoryStream(Encoding.UTF8.GetBytes("picture")), "image/png");
        Assert.True(_session.HasChanges);
        Assert.Null(_session.Advanced.CountersFor("parts/1").Get("views"));
        await _session.SaveChangesAsync(Token);
        Assert.False(_session.HasChanges);

        _session.Advanced.CountersFor("parts/1").Increment("views", 4);
        await _session.SaveChangesAsync(Token);
        Assert.Equal(7, _session.Advanced.CountersFor("parts/1").Get("views"));
        Assert.Equal(["views"], _session.Advanced.CountersFor(part).GetAll().Keys);
        using var content = new MemoryStream();
        Assert.True(await _session.Advanced.Attachments.CopyToAsync("parts/1", "photo", content, Token));
        Assert.Equal("picture", Encoding.UTF8.GetString(content.ToArray()));
        Assert.Equal("image/png", _session.Advanced.Attachments.List("parts/1").Single().ContentType);
        _session.Advanced.Attachments.Delete("parts/1", "photo");
        await _session.SaveChangesAsync(Token);
        Assert.False(_session.Advanced.Attachments.Exists("parts/1", "photo"));
    }

    [Fact]
    public async Task What_lies_beside_documents_is_kept_for_the_next_save_if_one_fails()
    {
        _session.Store(new Part { Id = "parts/1" }, changeVector: "");
        using (DocumentSession other = _database.OpenSession())
        {
            other.Store(new Part { Id = "parts/1", Name = "first" });
            await other.SaveChangesAsync(Token);
        }

        _session.Advanced.Attachments.Store("parts/1", "note", new MemoryStream([1, 2, 3]));
        await Assert.ThrowsAsync<ConcurrencyException>(() => _session.SaveChangesAsync(Token));
        Assert.False(_session.Advanced.Attachments.Exists("parts/1", "note"));
        _session.Evict(_session.Load<Part>("parts/1")!); // this session's own
        await _session.SaveChangesAsync(Token);
        Assert.Equal(3, _session.Advanced.Attachments.Find("parts/1", "note")!.SizeBytes); // just saved
    }

    [Fact]
    public async Task Compare_exchange_values_refuse_the_save_that_comes_late()
    {
        using DocumentSession first = _database.OpenSession(Wide());
        first.Advanced.ClusterTransaction.Create("names/ada", "parts/1");
        first.Store(new Part { Id = "parts/1" });
        await first.SaveChangesAsync(Token);
        using DocumentSession second = _database.OpenSession(Wide());
        second.Advanced.ClusterTransaction.Create("names/ada", "parts/2");
        second.Store(new Part { Id = "parts/2" });
        await Assert.ThrowsAnyAsync<TreepieException>(() => second.SaveChangesAsync(Token));
        Assert.False(second.Advanced.Exists("parts/2"));

        CompareExchange<string> read = first.Advanced.ClusterTransaction.Get<string>("names/ada")!; // created above
        Assert.Equal("parts/1", read.Value);
        first.Advanced.ClusterTransaction.Update(read, "parts/3");
        first.Load<Part>("parts/1")!.Name = "again"; // of this session
        await first.SaveChangesAsync(Token);
        Assert.Equal("parts/3", first.Advanced.ClusterTransaction.Get<string>("names/ada")!.Value); // as above
        Assert.Throws<InvalidOperationException>(() => _session.Advanced.ClusterTransaction.Create("x", 1));
    }

    [Fact]
    public async Task A_cluster_wide_save_is_refused_where_another_wrote_the_document()
    {
        using DocumentSession first = _database.OpenSession(Wide());
        first.Store(new Part { Id = "parts/1" });
        await first.SaveChangesAsync(Token);
        using DocumentSession second = _database.OpenSession(Wide());
        second.Load<Part>("parts/1")!.Name = "second"; // just stored
        first.Load<Part>("parts/1")!.Name = "first"; // as above
        await first.SaveChangesAsync(Token);
        await Assert.ThrowsAnyAsync<TreepieException>(() => second.SaveChangesAsync(Token));
        second.Advanced.Refresh(second.Load<Part>("parts/1")!); // there
        second.Load<Part>("parts/1")!.Name = "second"; // there
        await second.SaveChangesAsync(Token);
        Assert.Equal("second", _session.Load<Part>("parts/1")!.Name); // there
    }

    [Fact]
    public async Task A_save_waits_for_indexes_if_it_is_told_to()
    {
        await _session.Query<Part>().Where(part => part.Name == "x").ToListAsync(Token);
        _session.Store(new Part { Id = "parts/0" });
        await _session.SaveChangesAsync(Token);
        await _session.Query<Part>().Where(part => part.Name == "x").WaitForNonStaleResults().ToListAsync(Token);
        _session.Advanced.WaitForIndexesAfterSaveChanges();
        for (int i = 1; i < 50; i++)
        {
            _session.Store(new Part { Id = $"parts/{i}", Name = "x" });
            await _session.SaveChangesAsync(Token);
            Assert.Equal(i, await _session.Query<Part>().Where(part => part.Name == "x").AllowStale().CountAsync(Token));
        }
    }

    [Fact]
    public void Lazy_loads_are_done_when_they_are_asked_for()
    {
        Lazy<Part?> part = _session.Advanced.Lazily.Load<Part>("parts/1");
        Lazy<IReadOnlyDictionary<string, Part?>> parts = _session.Advanced.Lazily.Load<Part>(["parts/1", "parts/2"]);
        Change("late");
        Assert.Equal("late", part.Value!.Name); // stored by now
        Assert.Null(parts.Value["parts/2"]);
    }

    private static SessionOptions Wide() => new() { Json = System.Text.Json.JsonSerializerOptions.Default, IsClusterWide = true };

    private void Change(string name)
    {
        using DocumentSession session = _database.OpenSession();
        Part part = session.Load<Part>("parts/1") ?? new Part { Id = "parts/1" };
        part.Name = name;
        session.Store(part);
        session.SaveChanges();
    }

    private sealed class Part
    {
        public string? Id { get; set; }

        public string? Name { get; set; }

        public int[] Sizes { get; set; } = [];
    }
}
