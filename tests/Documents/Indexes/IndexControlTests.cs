using Treepie.Documents.Tests.Queries;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Indexes;

/// <summary>Locks, priorities, disabled and paused indexes: what they do, and what outlives a restart.</summary>
public sealed class IndexControlTests : IDisposable
{
    private static readonly IndexDefinition _byCity = new()
    {
        Name = "ByCity",
        Collections = ["Users"],
        Fields = [new() { Name = "City" }]
    };
    private static readonly IndexDefinition _byName = _byCity with { Fields = [new() { Name = "City", Path = "Name" }] };

    private readonly TemporaryDirectory _folder = new();
    private Database _database;

    public IndexControlTests() => _database = Database.Open(_folder.Path);

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task A_disabled_index_answers_from_what_it_has_until_it_is_enabled_also_after_a_restart()
    {
        _database.Indexes.Put(_byCity);
        await _database.PutAsync("users/1", """{"City":"Paris"}""", "Users");
        Assert.Equal(1, (await _database.AskAsync("from index ByCity")).Total);
        _database.Indexes.Control.Set("bycity", settings => settings with { IsDisabled = true });
        Reopen();
        await _database.PutAsync("users/2", """{"City":"Rome"}""", "Users");
        Answer answer = await AskNowAsync("from index ByCity");
        Assert.Equal((1, true), (answer.Total, answer.IsStale));
        IndexStatistics statistics = Assert.Single(_database.Indexes.List());
        Assert.Equal((IndexState.Disabled, true), (statistics.State, statistics.Settings.IsDisabled));
        Answer fresh = await AskNowAsync("from index ByCity include neverStale()");
        Assert.Equal((2, false), (fresh.Total, fresh.IsStale));

        _database.Indexes.Control.Set("ByCity", settings => settings with { IsDisabled = false });
        Assert.Equal(2, (await _database.AskAsync("from index ByCity")).Total);
        Assert.Equal(IndexState.Normal, Assert.Single(_database.Indexes.List()).State);
    }

    [Fact]
    public async Task Only_an_index_that_was_never_complete_is_said_to_be_unbuilt_and_that_it_is_off()
    {
        await _database.PutAsync("users/1", """{"City":"Paris"}""", "Users");
        await _database.PutAsync("users/2", """{"City":"Rome"}""", "Users");
        _database.Indexes.Control.Pause();
        _database.Indexes.Put(_byCity);
        Assert.Contains(
            "is paused or disabled before it was built: it has seen the changes up to 0 of 2",
            Assert.Single(await WarningsAsync()), StringComparison.Ordinal);

        _database.Indexes.Control.Resume();
        Assert.Equal(2, (await _database.AskAsync("from index ByCity")).Total);
        _database.Indexes.Control.Set("ByCity", static settings => settings with { IsDisabled = true });
        await _database.PutAsync("users/2", """{"City":"Ulm"}""", "Users");
        await _database.PutAsync("users/3", """{"City":"Bern"}""", "Users");
        Reopen();
        Assert.Empty(await WarningsAsync());

        async Task<IReadOnlyList<string>> WarningsAsync()
        {
            using QueryResults results = await _database.QueryAsync(
                new QueryRequest { Text = "from index ByCity" }, TestContext.Current.CancellationToken);
            Assert.True(results.IsStale);
            return results.Warnings;
        }
    }

    [Fact]
    public async Task Paused_indexes_go_on_when_they_are_resumed_or_the_database_is_opened_again()
    {
        _database.Indexes.Control.Pause();
        Assert.True(_database.Indexes.Control.AreAllPaused);
        _database.Indexes.Put(_byCity);
        await _database.PutAsync("users/1", """{"City":"Paris"}""", "Users");
        Assert.Equal(0, (await AskNowAsync("from index ByCity")).Total);
        Assert.True(Assert.Single(_database.Indexes.List()).IsPaused);
        _database.Indexes.Control.Resume();
        Assert.Equal(1, (await _database.AskAsync("from index ByCity")).Total);

        _database.Indexes.Control.Pause("ByCity");
        Assert.True(_database.Indexes.Control.IsPaused("BYCITY"));
        Assert.False(_database.Indexes.Control.AreAllPaused);
        Reopen();
        await _database.PutAsync("users/2", """{"City":"Rome"}""", "Users");
        Assert.Equal(2, (await _database.AskAsync("from index ByCity")).Total);
    }

    [Fact]
    public async Task A_lock_keeps_a_definition_as_it_is()
    {
        _database.Indexes.Put(_byCity);
        _database.Indexes.Control.Set("ByCity", settings => settings with { LockMode = IndexLockMode.LockedError });
        Reopen();
        var refused = Assert.Throws<InvalidIndexDefinitionException>(() => _database.Indexes.Put(_byName));
        Assert.Equal("LockMode", refused.Property);
        _database.Indexes.Put(_byCity); // the same is no change
        _database.Indexes.Control.Set("ByCity", settings => settings with { LockMode = IndexLockMode.LockedIgnore });
        _database.Indexes.Put(_byName);
        Assert.True(_database.Indexes.Definition("ByCity")!.IsSameAs(_byCity)); // it was put
        _database.Indexes.Control.Set("ByCity", settings => settings with { LockMode = IndexLockMode.Unlock });
        _database.Indexes.Put(_byName);
        Assert.True(_database.Indexes.Definition("ByCity")!.IsSameAs(_byName)); // as above
        await _database.PutAsync("users/1", """{"Name":"Ada"}""", "Users");
        Assert.True(
            await _database.Indexes.WaitForNonStaleAsync(
                TimeSpan.FromMinutes(1), cancellationToken: TestContext.Current.CancellationToken));
    }

    [Fact]
    public async Task What_is_set_goes_with_a_widened_index_and_goes_with_a_deleted_one()
    {
        await _database.PutAsync("users/1", """{"City":"Paris","Name":"Ada"}""", "Users");
        string name = (await _database.AskAsync("from Users where City = 'paris'")).Index;
        _database.Indexes.Control.Set(name, settings => settings with { Priority = IndexPriority.High });
        string wider = (await _database.AskAsync("from Users where Name = 'ada' and City = 'paris'")).Index;
        Assert.NotEqual(name, wider);
        Reopen();
        Assert.Equal(IndexPriority.High, _database.Indexes.Control.Settings(wider).Priority);
        Assert.Equal(IndexPriority.Normal, _database.Indexes.Control.Settings(name).Priority);
        Assert.True(_database.Indexes.Delete(wider));
        Reopen();
        Assert.Equal(IndexPriority.Normal, _database.Indexes.Control.Settings(wider).Priority);
        Assert.Throws<IndexNotFoundException>(() => _database.Indexes.Control.Set("nobody", static settings => settings));
        Assert.Throws<IndexNotFoundException>(() => _database.Indexes.Control.Pause("nobody"));
    }

    [Fact]
    public async Task Of_indexes_that_wait_for_their_turn_the_one_of_highest_priority_goes_next()
    {
        var turns = new IndexingTurns(1);
        await turns.WaitAsync(IndexPriority.Low, CancellationToken.None);
        using var givesUp = new CancellationTokenSource();
        Task low = turns.WaitAsync(IndexPriority.Low, CancellationToken.None);
        Task normal = turns.WaitAsync(IndexPriority.Normal, CancellationToken.None);
        Task high = turns.WaitAsync(IndexPriority.High, CancellationToken.None);
        Task given = turns.WaitAsync(IndexPriority.High, givesUp.Token);
        await givesUp.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => given);
        turns.Release();
        await high;
        Assert.False(normal.IsCompleted || low.IsCompleted);
        turns.Release();
        await normal;
        Assert.False(low.IsCompleted);
        turns.Release();
        await low;
        turns.Release();
        await turns.WaitAsync(IndexPriority.Low, CancellationToken.None); // free again
    }

    private Task<Answer> AskNowAsync(string text) =>
        _database.AskAsync(text, change: static request => request with { WaitForNonStaleResults = false });

    private void Reopen()
    {
        _database.Dispose();
        _database = Database.Open(_folder.Path);
    }
}
