using System.Globalization;
using System.Text;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Catalogs;
using Treepie.Destinations;
using Treepie.Documents.Tests.Backups;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.BackupTasks;

/// <summary>
/// Tasks that archive the log: several beside each other, over gaps and restarts, with what they keep and delete.
/// </summary>
public sealed class LogTaskTests : IAsyncDisposable
{
    private readonly TemporaryDirectory _files = new();
    private readonly ManualClock _clock = new();
    private readonly Random _random = new(Seed.Next());
    private DatabaseCatalog _catalog;
    private BackupScheduler _scheduler;

    public LogTaskTests()
    {
        _catalog = Open();
        _catalog.Create("shop");
        _scheduler = new BackupScheduler(new CatalogBackupSource(_catalog), new DestinationProviders(), _clock);
    }

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private Database Shop => _catalog.Find("shop") ?? throw new InvalidOperationException("There is no such database.");

    private long Commit => Shop.Environment.GetStatistics().LastTransactionId;

    public async ValueTask DisposeAsync()
    {
        await _scheduler.DisposeAsync();
        await _catalog.DisposeAsync();
        _files.Dispose();
    }

    [Fact]
    public async Task All_commits_since_the_first_snapshot_can_be_restored_to_whatever_ran_between()
    {
        long id = await _scheduler.PutAsync(
            "shop", Task("a") with { FullSchedule = "0 0 * * *", IncrementalSchedule = "0 */4 * * *" }, Cancel);
        Assert.True(Shop.GetLogStatus().IsKept);
        var texts = new List<(long Commit, List<string> Text)>();
        long first = 0;
        for (int step = 0; step < 60; step++)
        {
            for (int i = _random.Next(3); i > 0; i--)
            {
                await WriteAsync(_random.Next(20));
                texts.Add((Commit, DatabaseText.Of(Shop)));
            }

            _clock.Now = _clock.Now.AddMinutes(40);
            Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
            BackupTaskState state = Info(id).State;
            Assert.Equal((null, null), (state.Error, state.LogGap));
            Assert.Equal((_clock.Now.UtcDateTime, true), (state.Newest?.At, state.Newest?.IsProven));
            Assert.Equal(Shop.LastEtag, state.LastEtag);
            first = first == 0 ? state.Newest?.Commit ?? 0 : first;
            if (step == 30)
                await RestartAsync();
        }

        BackupHistory history = await HistoryAsync("a");
        Assert.Equal((first, 0), (Assert.Single(history.Stretches).FirstCommit, history.Gaps.Count));
        IReadOnlyList<RestorePoint> all = await PointsAsync("a");
        Assert.True(
            all.Count(point => point is { Kind: BackupKind.Snapshot, IsIncremental: false }) >= 2
                && all.Any(point => point is { Kind: BackupKind.Snapshot, IsIncremental: true }));
        Assert.True(all.Count(point => point.Kind == BackupKind.Log) > 10);
        foreach ((
            long commit,
            List<string> text) in texts.Where((text, index) => index % 9 == 0 && text.Commit >= first).Append(texts[^1]))
            Assert.Equal(text, await RestoreAsync("a", commit));
    }

    [Fact]
    public async Task Each_task_has_its_own_place_in_the_log_and_the_slow_one_alone_pays_for_what_is_not_kept()
    {
        await WriteAsync(1);
        long quick = await _scheduler.PutAsync("shop", Task("quick") with { LogBudgetBytes = 1 << 20 }, Cancel),
            slow = await _scheduler.PutAsync("shop", Task("slow") with { LogBudgetBytes = 1 << 20 }, Cancel);
        await _scheduler.RunAsync("shop", quick, isFull: true, cancellationToken: Cancel);
        await _scheduler.RunAsync("shop", slow, isFull: true, cancellationToken: Cancel);
        for (int round = 0; round < 3; round++)
        {
            await WriteAsync(round);
            Assert.Equal(BackupRunKind.Log, (await LogAsync(quick)).Kind);
        }

        Assert.False(Info(slow).Log?.IsLost);
        Assert.Equal(BackupRunKind.Log, (await LogAsync(slow)).Kind);
        for (int round = 0; round < 14; round++)
        {
            for (int i = 0; i < 8; i++)
                await WriteAsync(i, 60_000);
            Assert.Null((await LogAsync(quick)).LogGap);
            // behind it, files over the budget go, also in the background: nothing of the quick one may wait then
            Shop.Environment.Checkpoint(Cancel);
        }

        Assert.True(Shop.GetLogStatus().FilesGivenUp > 0);
        Assert.Equal((false, true), (Info(quick).Log?.IsLost, Info(slow).Log?.IsLost));
        BackupRunReport gap = await LogAsync(slow);
        Assert.Equal(BackupRunKind.Incremental, gap.Kind);
        Assert.Contains("cannot be continued", gap.LogGap, StringComparison.Ordinal);
        Assert.Equal(gap.LogGap, Info(slow).State.LogGap);
        Assert.False(Info(slow).Log?.IsLost);
        await WriteAsync(3);
        Assert.Equal((BackupRunKind.Log, null), ((await LogAsync(slow)).Kind, (await LogAsync(quick)).LogGap));
        List<string> now = DatabaseText.Of(Shop);
        Assert.Equal(now, await RestoreAsync("slow", null));
        Assert.Contains("there is no log", Assert.Single((await HistoryAsync("slow")).Gaps), StringComparison.Ordinal);
        Assert.Equal(now, await RestoreAsync("quick", null));
    }

    [Fact]
    public async Task A_place_that_missed_a_stretch_of_the_log_gets_an_increment_and_not_everything()
    {
        string other = PlaceOf("b");
        await WriteAsync(1);
        long id = await _scheduler.PutAsync(
            "shop",
            Task("a") with
            {
                Destinations = [new DestinationSettings { Address = PlaceOf("a") }, new DestinationSettings { Address = other }]
            },
            Cancel);
        await _scheduler.RunAsync("shop", id, isFull: true, cancellationToken: Cancel);
        await WriteAsync(2);
        Directory.Move(other, other + "-away");
        await File.WriteAllTextAsync(other, "no folder", Cancel);
        BackupRunReport missed = await LogAsync(id);
        Assert.Equal((BackupRunKind.Log, PlaceOf("a")), (missed.Kind, Assert.Single(missed.LogAddresses)));
        Assert.Contains(other, missed.Problem, StringComparison.Ordinal);
        File.Delete(other);
        Directory.Move(other + "-away", other);
        await WriteAsync(3);
        BackupRunReport closing = await LogAsync(id);
        Assert.Equal((BackupRunKind.Incremental, 2), (closing.Kind, closing.LogAddresses.Count));
        await WriteAsync(4);
        Assert.Equal(BackupRunKind.Log, (await LogAsync(id)).Kind);
        Assert.Equal(DatabaseText.Of(Shop), await RestoreAsync("b", null));
    }

    [Fact]
    public async Task What_is_deleted_because_of_its_age_is_never_needed_by_what_is_kept()
    {
        long id = await _scheduler.PutAsync(
            "shop",
            Task("a") with
            {
                FullSchedule = "0 0 * * *",
                IncrementalSchedule = "0 */6 * * *",
                LogInterval = TimeSpan.FromHours(1),
                KeepFor = TimeSpan.FromDays(2)
            },
            Cancel);
        for (int hour = 0; hour < 24 * 5; hour++)
        {
            await WriteAsync(hour % 10);
            _clock.Now = _clock.Now.AddHours(1);
            Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        }

        BackupTaskState state = Info(id).State;
        IReadOnlyList<RestorePoint> all = await PointsAsync("a");
        RestorePoint oldest = all[^1];
        Assert.Equal((BackupKind.Snapshot, false), (oldest.Kind, oldest.IsIncremental));
        Assert.Equal(state.Kept[0].Object, oldest.Object);
        Assert.InRange(_clock.Now.UtcDateTime - oldest.TakenAt, TimeSpan.FromDays(2), TimeSpan.FromDays(4));
        using BackupDestination place = new FolderDestination(PlaceOf("a"));
        IReadOnlyList<BackupObject> objects = await place.ListAsync("", Cancel);
        Assert.Equal(
            all.Select(point => point.Object).Order(),
            objects.Select(item => BackupCard.TryParse(item.Name)?.Part).OfType<string>().Order());
        Assert.Equal(2 * all.Count, objects.Count);
        Assert.Equal(
            all.Where(point => point.Kind == BackupKind.Log).Select(point => point.Object).Order(),
            BackupTaskStore.Of(Shop).ListLogs(id, "z").Select(log => log.Object));
        Assert.Equal(DatabaseText.Of(Shop), await RestoreAsync("a", null));
        await _scheduler.DeleteAsync("shop", id, Cancel);
        Assert.Empty(BackupTaskStore.Of(Shop).ListLogs(id, "z"));
        Assert.False(Shop.GetLogStatus().IsKept);
    }

    [Fact]
    public async Task Where_nothing_has_changed_nothing_is_written_and_a_run_that_failed_is_what_comes_again()
    {
        await WriteAsync(1);
        long id = await _scheduler.PutAsync("shop", Task("a"), Cancel);
        _clock.Now = _clock.Now.AddMinutes(1);
        Assert.Equal(BackupRunKind.Log, Info(id).Next?.Kind);
        Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        for (int minute = 0; minute < 3; minute++)
        {
            _clock.Now = _clock.Now.AddMinutes(1);
            Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        }

        Assert.Single(await PointsAsync("a"));
        Assert.Equal(_clock.Now.UtcDateTime, Info(id).State.Newest?.At);
        await WriteAsync(2);
        Directory.Move(PlaceOf("a"), PlaceOf("x"));
        await File.WriteAllTextAsync(PlaceOf("a"), "no folder", Cancel);
        _clock.Now = _clock.Now.AddMinutes(1);
        Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        Assert.Equal(new NextBackup(_clock.Now.UtcDateTime.AddMinutes(1), BackupRunKind.Log), Info(id).Next);
        File.Delete(PlaceOf("a"));
        Directory.Move(PlaceOf("x"), PlaceOf("a"));
        _clock.Now = _clock.Now.AddMinutes(1);
        Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        Assert.Equal([BackupKind.Log, BackupKind.Snapshot], (await PointsAsync("a")).Select(point => point.Kind));
    }

    [Theory]
    [InlineData(BackupKind.Logical, 60, 1 << 20, "continues snapshots")]
    [InlineData(BackupKind.Snapshot, 0, 1 << 20, "a second is the least")]
    [InlineData(BackupKind.Snapshot, 60, 100, "bytes are the least")]
    public async Task A_log_that_cannot_be_archived_so_is_refused(BackupKind kind, int seconds, long budget, string expected)
    {
        BackupTask task = Task("a") with { Kind = kind, LogInterval = TimeSpan.FromSeconds(seconds), LogBudgetBytes = budget };
        Assert.Contains(
            expected, (await Assert.ThrowsAsync<BackupTaskException>(() => _scheduler.PutAsync("shop", task, Cancel))).Message,
            StringComparison.Ordinal);
        long plain = await _scheduler.PutAsync("shop", Task("b") with { LogInterval = null }, Cancel);
        await Assert.ThrowsAsync<BackupTaskException>(() => LogAsync(plain));
        Assert.False(Shop.GetLogStatus().IsKept);
    }

    [Fact]
    public void The_name_of_a_card_says_what_its_part_holds()
    {
        for (int round = 0; round < 200; round++)
        {
            var card = new BackupCard
            {
                Part = BackupName.Of(
                    "shop", DateTime.UnixEpoch.AddMilliseconds(_random.NextInt64(1L << 40)), BackupKind.Log, isIncremental: true,
                    _random.Next(2) == 0),
                StoreId = Guid.NewGuid(),
                Since = _random.Next(3) == 0 ? -1 : _random.NextInt64(),
                Commit = _random.NextInt64(),
                CommittedAt = _random.Next(3) == 0 ? null : DateTime.UnixEpoch.AddMilliseconds(1 + _random.NextInt64(1L << 40)),
                LastEtag = _random.NextInt64(),
            };
            Assert.Equal(card, BackupCard.TryParse(card.Name));
            Assert.True(Path.GetFileName(card.Name).Length < 255);
            Assert.Null(BackupName.Parse(new BackupObject(card.Name, 1, default)));
        }

        foreach (string other in (string[])
        [
            "a.card", "a.b.card", "a.1-2-3-4.card", "a.x-2-3-4-" + Guid.NewGuid().ToString("N") + ".card", ".full-2-3-4-5.card",
            "a.full--2-3-4-" + Guid.NewGuid().ToString("N") + ".card"
        ])
            Assert.Null(BackupCard.TryParse(other));
    }

    private DatabaseCatalog Open() => new(Path.Combine(_files.Path, "data"), new DatabaseOptions { TimeProvider = _clock });

    private async Task RestartAsync()
    {
        await _scheduler.DisposeAsync();
        await _catalog.DisposeAsync();
        _catalog = Open();
        _scheduler = new BackupScheduler(new CatalogBackupSource(_catalog), new DestinationProviders(), _clock);
    }

    private string PlaceOf(string name) => Path.Combine(_files.Path, name);

    private BackupTask Task(string place) => new()
    {
        Name = place,
        Kind = BackupKind.Snapshot,
        LogInterval = TimeSpan.FromMinutes(1),
        Destinations = [new DestinationSettings { Address = PlaceOf(place) }],
    };

    private BackupTaskInfo Info(long id) =>
        _scheduler.Find("shop", id) ?? throw new InvalidOperationException("There is no such task.");

    private Task<BackupRunReport> LogAsync(long id)
    {
        _clock.Now = _clock.Now.AddSeconds(1);
        return _scheduler.RunAsync("shop", id, BackupRunKind.Log, cancellationToken: Cancel);
    }

    private async Task<IReadOnlyList<RestorePoint>> PointsAsync(string place)
    {
        using BackupDestination folder = new FolderDestination(PlaceOf(place));
        return await BackupName.ListAsync(folder, "shop", Cancel);
    }

    private async Task<BackupHistory> HistoryAsync(string place)
    {
        using BackupDestination folder = new FolderDestination(PlaceOf(place));
        return Assert.Single((await BackupInventory.ReadAsync(folder, null, null, Cancel)).Histories);
    }

    /// <summary>The documents as they were at a commit, from a place, with whatever lies there.</summary>
    private async Task<List<string>> RestoreAsync(string place, long? commit)
    {
        using BackupDestination folder = new FolderDestination(PlaceOf(place));
        string target = Path.Combine(_files.Path, "restored");
        BackupInventory inventory = await BackupInventory.ReadAsync(folder, "shop", null, Cancel);
        BackupSelection selection = inventory.Select(new RestoreWish { Commit = commit });
        await Database.RestoreAsync(
            selection.Parts, target, new RestoreOptions { StopAtCommit = selection.StopAtCommit }, null, Cancel);
        await using Database restored = Database.Open(target);
        List<string> text = DatabaseText.Of(restored);
        await restored.DisposeAsync();
        Directory.Delete(target, recursive: true);
        return text;
    }

    private async Task WriteAsync(int number, int length = 20)
    {
        var batch = new WriteBatch(Shop.Options);
        byte[] noise = new byte[length / 2];
        _random.NextBytes(noise);
        batch.Put(
            string.Create(CultureInfo.InvariantCulture, $"users/{number}"),
            Encoding.UTF8.GetBytes($"{{\"name\":\"{Convert.ToHexString(noise)}\",\"@metadata\":{{\"@collection\":\"Users\"}}}}"));
        await Shop.WriteAsync(batch, Cancel);
    }
}
