using System.Text;
using Treepie.Documents.Tests.BackupTasks;
using Treepie.Documents.Tests.Queries;
using Treepie.Indexes;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Indexes;

/// <summary>What an index says of itself: how far behind it is, how fast it goes, and what it could not take.</summary>
public sealed class IndexStatisticsTests : IDisposable
{
    private static readonly IndexDefinition _users = new()
    {
        Name = "Users",
        Collections = ["Users"],
        Fields =
        [
            new() { Name = "Name" }, new() { Name = "Notes", Indexing = FieldIndexing.Search },
            new() { Name = "At", Spatial = new SpatialFieldDefinition { Wkt = "At" } }
        ],
    };

    private readonly TemporaryDirectory _folder = new();
    private readonly ManualClock _clock = new();
    private readonly Database _database;

    public IndexStatisticsTests()
    {
        _database = Database.Open(_folder.Path, new DatabaseOptions { TimeProvider = _clock });
        _database.Indexes.Put(_users);
    }

    private IndexStatistics Statistics => Assert.Single(_database.Indexes.List());

    public void Dispose()
    {
        _database.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task An_index_says_by_how_many_changes_and_how_long_it_is_behind()
    {
        await _database.PutAsync("users/0", """{"Name":"a"}""", "Users");
        await WaitAsync();
        Assert.Equal((0, TimeSpan.Zero, 0L), (Statistics.WaitingChanges, Statistics.TimeBehind, Statistics.EtagsBehind));
        _database.Indexes.Control.Pause();
        _clock.Now += TimeSpan.FromMinutes(5);
        for (int i = 1; i <= 5; i++)
            await _database.PutAsync($"users/{i}", """{"Name":"b"}""", "Users");
        await _database.PutAsync("others/1", """{"Name":"b"}""", "Others");
        await _database.WriteAsync(new WriteBatch().Delete("users/0"), TestContext.Current.CancellationToken);
        _clock.Now += TimeSpan.FromSeconds(30);
        IndexStatistics behind = Statistics;
        Assert.Equal(
            (6, TimeSpan.FromSeconds(30), 7L, true),
            (behind.WaitingChanges, behind.TimeBehind, behind.EtagsBehind, behind.IsStale));
        _database.Indexes.Control.Resume();
        await WaitAsync();
        IndexStatistics now = Statistics;
        Assert.Equal((0, TimeSpan.Zero, 0L, 6), (now.WaitingChanges, now.TimeBehind, now.EtagsBehind, now.LastBatchChanges));
        Assert.True(now.ChangesPerSecond > 0);
    }

    [Fact]
    public async Task Absurd_documents_are_indexed_or_named_and_the_others_go_on()
    {
        string huge = new('x', 1 << 20);
        string fields = string.Join(',', Enumerable.Range(0, 100_000).Select(i => $"\"f{i}\":{i}"));
        await _database.PutAsync("users/many", $$"""{"Name":"many",{{fields}}}""", "Users");
        await _database.PutAsync("users/long", $$"""{"Name":"{{huge}}","Notes":"{{huge}} and {{huge}}y"}""", "Users");
        await _database.PutAsync("users/nowhere", """{"Name":"nowhere","At":"POLYGON ((1 2"}""", "Users");
        await _database.PutAsync("users/plain", """{"Name":"plain","Notes":"words"}""", "Users");
        Assert.Equal(1, (await _database.AskAsync("from index Users where Name = 'many'")).Total);
        Assert.Equal(1, (await _database.AskAsync("from index Users where Name = $name", $$"""{"name":"{{huge}}"}""")).Total);
        Assert.Equal(
            1, (await _database.AskAsync("from index Users where search(Notes, $word)", $$"""{"word":"{{huge}}y"}""")).Total);
        Assert.Equal(1, (await _database.AskAsync("from index Users where search(Notes, 'words')")).Total);
        IndexError error = Assert.Single(_database.Indexes.Errors("Users"));
        Assert.Equal(("users/nowhere", "Map"), (error.DocumentId, error.Action));
        Assert.Equal((4, 1), (Statistics.EntryCount, Statistics.ErrorCount));
    }

    [Fact]
    public async Task An_index_keeps_the_last_512_errors()
    {
        var batch = new WriteBatch();
        for (int i = 0; i < 600; i++)
            batch.Put($"users/{i}", Encoding.UTF8.GetBytes("""{"At":"nowhere","@metadata":{"@collection":"Users"} }"""));
        await _database.WriteAsync(batch, TestContext.Current.CancellationToken);
        await WaitAsync();
        Assert.Equal(512, _database.Indexes.Errors("Users").Count);
        Assert.Equal((600, 512, IndexState.Normal), (Statistics.EntryCount, Statistics.ErrorCount, Statistics.State));
    }

    private async Task WaitAsync() =>
        Assert.True(
            await _database.Indexes.WaitForNonStaleAsync(
                TimeSpan.FromMinutes(5), cancellationToken: TestContext.Current.CancellationToken));
}
