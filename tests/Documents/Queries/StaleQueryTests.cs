using System.Text;
using Treepie.Queries;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Queries;

/// <summary>What queries say while an index is behind: the index of these tests works only when it is let.</summary>
public sealed class StaleQueryTests : IDisposable
{
    private static readonly DatabaseOptions _options = new() { DefaultStaleWait = Eventually.Patience };

    private readonly HeldBackIndexes _store = new(_options);

    public void Dispose() => _store.Dispose();

    [Fact]
    public async Task An_answer_from_behind_says_so_and_leaves_out_what_is_gone()
    {
        await PutAsync("users/1", "users/2", "users/3");
        Assert.Equal(["users/1", "users/2", "users/3"], (await AskAsync()).Ids);

        _store.Hold();
        await DeleteAsync("users/2");
        await PutAsync("users/4");
        (List<string> ids, bool isStale, long total) = await AskAsync();
        Assert.Equal(["users/1", "users/3"], ids);
        Assert.True(isStale);
        Assert.Equal(3, total);
    }

    [Fact]
    public async Task Changes_of_other_collections_make_nothing_stale()
    {
        await PutAsync("users/1");
        await AskAsync();
        _store.Hold();
        await _store.WriteAsync(new WriteBatch().Put("dogs/1", """{"Age":1,"@metadata":{"@collection":"Dogs"}}"""u8.ToArray()));
        Assert.False((await AskAsync()).IsStale);
    }

    [Fact]
    public async Task Waiting_ends_when_the_index_has_what_was_written_before()
    {
        await PutAsync("users/1");
        await AskAsync();
        _store.Hold();
        await PutAsync("users/2");
        Task<(List<string> Ids, bool IsStale, long Total)> waiting = AskAsync(wait: TimeSpan.FromMinutes(5));
        Assert.False(waiting.IsCompleted);
        _store.LetGo();
        (List<string> ids, bool isStale, _) = await waiting;
        Assert.Equal(["users/1", "users/2"], ids);
        Assert.False(isStale);
    }

    [Fact]
    public async Task Waiting_no_longer_than_asked_gives_a_stale_answer()
    {
        await PutAsync("users/1");
        await AskAsync();
        _store.Hold();
        await PutAsync("users/2");
        (List<string> ids, bool isStale, _) = await AskAsync(wait: TimeSpan.Zero);
        Assert.Equal(["users/1"], ids);
        Assert.True(isStale);
    }

    [Fact]
    public async Task Waiting_can_be_cancelled()
    {
        await PutAsync("users/1");
        await AskAsync();
        _store.Hold();
        await PutAsync("users/2");
        using var stop = new CancellationTokenSource();
        Task waiting = AskAsync(wait: TimeSpan.FromMinutes(5), stop);
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting);
    }

    [Fact]
    public async Task A_query_that_takes_too_long_says_how_long_it_may()
    {
        await PutAsync("users/1");
        await AskAsync();
        _store.Hold();
        await PutAsync("users/2");
        var queries = new QueryExecutor(
            _store.Indexes, _store.Database.BeginRead, _store.Changes,
            _options with { MaxQueryTime = TimeSpan.FromMilliseconds(1) }, _store.Database.Sorters.Orders);
        var request = new QueryRequest
        {
            Text = "from Users where Age = 1",
            WaitForNonStaleResults = true,
            WaitTimeout = TimeSpan.FromMinutes(5)
        };
        var error = await Assert.ThrowsAsync<TimeoutException>(
            () => queries.ExecuteAsync(request, TestContext.Current.CancellationToken));
        Assert.Contains("MaxQueryTime", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Waiting_for_an_index_that_is_deleted_goes_on_with_a_new_one()
    {
        await PutAsync("users/1");
        await AskAsync();
        _store.Hold();
        await PutAsync("users/2");
        Task<(List<string> Ids, bool IsStale, long Total)> waiting = AskAsync(wait: TimeSpan.FromMinutes(5));
        Assert.True(_store.Indexes.Delete("Auto/Users/ByAge"));
        _store.LetGo();
        (List<string> ids, bool isStale, _) = await waiting;
        Assert.Equal(["users/1", "users/2"], ids);
        Assert.False(isStale);
    }

    [Fact]
    public async Task The_old_index_answers_until_the_wider_one_is_complete()
    {
        await PutAsync("users/1");
        await AskAsync();
        _store.Hold();
        using QueryResults wider = await _store.Queries.ExecuteAsync(
            new QueryRequest
            {
                Text = "from Users where Name = null",
                WaitForNonStaleResults = true,
                WaitTimeout = TimeSpan.Zero
            }, TestContext.Current.CancellationToken);
        Assert.True(wider.IsStale);
        Assert.Equal("Auto/Users/ByAgeAndName", wider.IndexName);
        (List<string> ids, bool isStale, _) = await AskAsync();
        Assert.Equal(["users/1"], ids);
        Assert.False(isStale);

        Task gone = _store.Indexes.Find("Auto/Users/ByAge")?.Released ?? Task.CompletedTask;
        _store.LetGo();
        await gone;
        Assert.Equal("Auto/Users/ByAgeAndName", Assert.Single(_store.Indexes.List()).Name);
    }

    private async Task<(List<string> Ids, bool IsStale, long Total)> AskAsync(
        TimeSpan? wait = null, CancellationTokenSource? stop = null)
    {
        var request = new QueryRequest
        {
            Text = "from Users where Age = 1",
            WaitForNonStaleResults = wait is not null,
            WaitTimeout = wait
        };
        using CancellationTokenSource either = CancellationTokenSource.CreateLinkedTokenSource(
            stop?.Token ?? default, TestContext.Current.CancellationToken);
        using QueryResults results = await _store.Queries.ExecuteAsync(request, either.Token);
        var ids = new List<string>();
        while (results.MoveNext())
            ids.Add(results.Current.IdText());
        ids.Sort(StringComparer.Ordinal);
        return (ids, results.IsStale, results.TotalResults);
    }

    private Task PutAsync(params string[] ids)
    {
        var batch = new WriteBatch();
        foreach (string id in ids)
            batch.Put(id, Encoding.UTF8.GetBytes("""{"Age":1,"@metadata":{"@collection":"Users"}}"""));
        return _store.WriteAsync(batch);
    }

    private Task DeleteAsync(string id) => _store.WriteAsync(new WriteBatch().Delete(id));
}
