using Treepie.Sessions;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Sessions;

/// <summary>Loads and queries that wait are run together, as one request, when the first value is asked for.</summary>
public sealed class SessionLazyTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();
    private readonly Database _database;

    public SessionLazyTests()
    {
        _database = Database.Open(_directory.Path);
        using DocumentSession session = _database.OpenSession();
        for (int i = 0; i < 10; i++)
            session.Store(new Part { Id = $"parts/{i}", Weight = i });
        session.SaveChanges();
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _database.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void All_that_wait_are_one_request()
    {
        using DocumentSession session = _database.OpenSession();
        Lazy<Part?> one = session.Advanced.Lazily.Load<Part>("parts/1");
        Lazy<IReadOnlyDictionary<string, Part?>> two = session.Advanced.Lazily.Load<Part>(["parts/2", "parts/none"]);
        Lazy<IReadOnlyList<Part>> some = session.Advanced.Lazily.LoadStartingWith<Part>("parts/", 3, 2);
        Lazy<IEnumerable<Part>> heavy = session.Query<Part>().Where(part => part.Weight > 6).Lazily();
        Lazy<int> count = session.Query<Part>().Where(part => part.Weight > 2).CountLazily();
        Assert.Equal(0, session.Advanced.NumberOfRequests);

        Assert.Equal(7, count.Value);
        Assert.True(session.IsLoaded("parts/1"));
        Assert.Equal(3, heavy.Value.Count());
        Assert.Equal(1, one.Value!.Weight);
        Assert.Null(two.Value["parts/none"]);
        Assert.Equal([3, 4], some.Value.Select(part => part.Weight));
        Assert.Same(heavy.Value.First(part => part.Weight == 8), session.Load<Part>("parts/8"));
        Assert.Equal(1, session.Advanced.NumberOfRequests);

        // What comes later waits anew; what the session has asks nobody.
        Lazy<Part?> known = session.Advanced.Lazily.Load<Part>("parts/1");
        Assert.Same(one.Value, known.Value);
        Assert.Equal(1, session.Advanced.NumberOfRequests);
        Assert.Equal(5, session.Advanced.Lazily.Load<Part>("parts/5").Value!.Weight);
        Assert.Equal(2, session.Advanced.NumberOfRequests);
    }

    [Fact]
    public async Task All_that_wait_can_be_awaited()
    {
        using DocumentSession session = _database.OpenSession();
        Lazy<Task<Part?>> one = session.Advanced.Lazily.LoadAsync<Part>("parts/1");
        Lazy<Task<IReadOnlyDictionary<string, Part?>>> two = session.Advanced.Lazily.LoadAsync<Part>(["parts/2", "parts/3"]);
        Lazy<Task<IEnumerable<Part>>> heavy = session.Query<Part>().Where(part => part.Weight > 6).LazilyAsync();
        Lazy<Task<int>> count = session.Query<Part>().CountLazilyAsync();
        Assert.Equal(10, await count.Value);
        Assert.Equal(1, (await one.Value)!.Weight);
        Assert.Equal(3, (await heavy.Value).Count());
        Assert.Equal(2, (await two.Value).Count);
        Assert.Equal(1, session.Advanced.NumberOfRequests);

        Lazy<Task<Part?>> later = session.Advanced.Lazily.LoadAsync<Part>("parts/6");
        await session.Advanced.Eagerly.ExecuteAllPendingLazyOperationsAsync(Token);
        Assert.True(session.IsLoaded("parts/6"));
        Assert.Equal(6, (await later.Value)!.Weight);
        session.Advanced.Eagerly.ExecuteAllPendingLazyOperations(); // nothing waits
        Assert.Equal(2, session.Advanced.NumberOfRequests);
    }

    [Fact]
    public void Loads_that_wait_see_one_state()
    {
        using DocumentSession session = _database.OpenSession();
        Lazy<Part?> first = session.Advanced.Lazily.Load<Part>("parts/1");
        Lazy<Part?> other = session.Advanced.Lazily.Load<Part>("parts/2");
        using (DocumentSession elsewhere = _database.OpenSession())
        {
            elsewhere.Load<Part>("parts/1")!.Weight = 100;
            elsewhere.Load<Part>("parts/2")!.Weight = 100;
            elsewhere.SaveChanges();
        }

        Assert.Equal((100, 100), (first.Value!.Weight, other.Value!.Weight));
    }

    [Fact]
    public void An_error_is_that_of_its_value_alone()
    {
        using DocumentSession session = _database.OpenSession();
        Lazy<Other?> wrong = session.Advanced.Lazily.Load<Other>("parts/1");
        Lazy<Part?> right = session.Advanced.Lazily.Load<Part>("parts/2");
        Assert.Equal(2, right.Value!.Weight);
        Assert.ThrowsAny<TreepieException>(() => wrong.Value);
        Assert.Throws<NotSupportedException>(() => session.Query<Part>().Where(part => part.Weight * 2 > 3).Lazily());
    }

    [Fact]
    public void They_do_not_outlive_the_session_and_are_bounded()
    {
        DocumentSession session = _database.OpenSession(options => options with { MaxTrackedDocuments = 3 });
        Lazy<Part?>[] waiting = [.. Enumerable.Range(0, 3).Select(i => session.Advanced.Lazily.Load<Part>($"parts/{i}"))];
        var error = Assert.Throws<InvalidOperationException>(() => session.Advanced.Lazily.Load<Part>("parts/4"));
        Assert.Contains("MaxTrackedDocuments", error.Message, StringComparison.Ordinal);
        Assert.Equal(2, waiting[2].Value!.Weight);
        session.Clear();
        Lazy<Part?> late = session.Advanced.Lazily.Load<Part>("parts/4");
        session.Dispose();
        Assert.Throws<ObjectDisposedException>(() => late.Value);
        Assert.Throws<ObjectDisposedException>(() => session.Advanced.Lazily.Load<Part>("parts/4"));
    }

    private sealed class Part
    {
        public string? Id { get; set; }

        public int Weight { get; set; }
    }

    private sealed class Other
    {
        public string? Id { get; set; }

        public List<string>? Weight { get; set; }
    }
}
