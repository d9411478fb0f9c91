using System.Text;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Catalogs;
using Treepie.Destinations;
using Treepie.Encryption;
using Treepie.Storage;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.BackupTasks;

/// <summary>
/// Runs that end otherwise than they should, or follow a change of their task: what lies at the destinations afterwards is what
/// the task knows of.
/// </summary>
public sealed class BackupRunTests : IAsyncDisposable
{
    private readonly TemporaryDirectory _files = new();
    private readonly ManualClock _clock = new();
    private readonly WatchedFolders _folders = new();
    private readonly DatabaseCatalog _catalog;
    private readonly BackupScheduler _scheduler;

    public BackupRunTests()
    {
        _catalog = new DatabaseCatalog(Path.Combine(_files.Path, "data"), new DatabaseOptions { TimeProvider = _clock });
        _catalog.Create("shop");
        _scheduler = new BackupScheduler(new CatalogBackupSource(_catalog), new DestinationProviders(_folders), _clock);
    }

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private string Place => Path.Combine(_files.Path, "place");

    private BackupTask Nightly =>
        new() { Name = "nightly", Destinations = [new DestinationSettings { Address = WatchedFolders.AddressOf(Place) }] };

    public async ValueTask DisposeAsync()
    {
        await _scheduler.DisposeAsync();
        await _catalog.DisposeAsync();
        _files.Dispose();
    }

    [Fact]
    public async Task What_ends_while_expired_backups_are_deleted_goes_on_from_no_deleted_one()
    {
        await WriteAsync("users/1");
        long id = await _scheduler.PutAsync(
            "shop", Nightly with { Proves = false, KeepFor = TimeSpan.FromDays(1), KeepAtLeast = 1 }, Cancel);
        string first = (await RunAsync(id, BackupRunKind.Full)).Object;
        _clock.Now = _clock.Now.AddDays(2);
        await WriteAsync("users/2");
        _folders.Deleting = name =>
        {
            if (name != first)
                return;
            File.Delete(Path.Combine(Place, name));
            throw new InvalidOperationException("The process ends here.");
        };
        await Assert.ThrowsAsync<InvalidOperationException>(() => RunAsync(id, BackupRunKind.Full));
        _folders.Deleting = static _ => { };

        _clock.Now = _clock.Now.AddMinutes(1);
        await WriteAsync("users/3");
        BackupRunReport report = await RunAsync(id, BackupRunKind.Incremental);
        IReadOnlyList<string> parts = await PartsAsync(Place);
        Assert.DoesNotContain(first, parts);
        KeptBackup[] chain = [.. report.Kept.TakeLast(2)];
        Assert.Equal([false, true], chain.Select(static backup => backup.IsIncremental));
        Assert.All(chain, backup => Assert.Contains(backup.Object, parts));
    }

    [Theory]
    [InlineData("destination")]
    [InlineData("further destination")]
    [InlineData("key")]
    [InlineData("kind")]
    public async Task A_task_that_has_changed_takes_a_full_backup_of_a_database_that_stands_still(string change)
    {
        await WriteAsync("users/1");
        long id = await _scheduler.PutAsync("shop", Nightly, Cancel);
        await RunAsync(id, BackupRunKind.Full);
        Assert.Null((await RunAsync(id, BackupRunKind.Incremental)).Report); // nothing has changed
        string other = Path.Combine(_files.Path, "other"), keyFile = Path.Combine(_files.Path, "backup.key");
        using (EncryptionKey key = EncryptionKey.Generate())
            KeyFile.Create(keyFile, key);
        var second = new DestinationSettings { Address = other };
        BackupTask changed = (Nightly with { Id = id }) switch
        {
            var task when change == "destination" => task with { Destinations = [second] },
            var task when change == "further destination" => task with { Destinations = [.. task.Destinations, second] },
            var task when change == "key" => task with { KeySource = $"file:{keyFile}" },
            var task => task with { Kind = BackupKind.Snapshot },
        };
        await _scheduler.PutAsync("shop", changed, Cancel);

        BackupRunReport report = await RunAsync(id, BackupRunKind.Incremental);
        Assert.Equal((false, null), (report.Report?.IsIncremental, report.Problem));
        Assert.Null((await RunAsync(id, BackupRunKind.Incremental)).Report);
        if (change.EndsWith("destination", StringComparison.Ordinal))
            Assert.Equal([report.Object], await PartsAsync(other));
    }

    [Fact]
    public async Task Runs_that_follow_each_other_at_once_lose_no_backup()
    {
        const int Runs = 120;
        await WriteAsync("users/1");
        var clock = new TickingClock();
        await using var scheduler = new BackupScheduler(
            new CatalogBackupSource(_catalog), new DestinationProviders(_folders), clock);
        long id = await scheduler.PutAsync("shop", Nightly with { Proves = false }, Cancel);
        int done = 0;
        await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => Task.Run(RunAllAsync, Cancel)));
        Assert.Equal(
            await PartsAsync(Place), scheduler.Find("shop", id)!.State.Kept.Select(static backup => backup.Object).Order());

        async Task RunAllAsync()
        {
            while (Volatile.Read(ref done) < Runs)
            {
                try
                {
                    await scheduler.RunAsync("shop", id, isFull: true, cancellationToken: Cancel);
                    Interlocked.Increment(ref done);
                }
                catch (BackupTaskException)
                {
                    // Another one is at work.
                }
            }
        }
    }

    [Fact]
    public async Task A_run_that_is_cancelled_while_it_reads_its_backup_back_leaves_nothing_of_it()
    {
        await WriteAsync("users/1");
        long id = await _scheduler.PutAsync("shop", Nightly with { Kind = BackupKind.Snapshot }, Cancel);
        string first = (await RunAsync(id, BackupRunKind.Full)).Object;
        string[] before = Files(); // with its card
        using var stop = new CancellationTokenSource();
        _folders.Reading = _ => stop.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => RunUntilAsync(id, BackupRunKind.Full, stop.Token));

        Assert.Equal([first], await PartsAsync(Place));
        Assert.Equal(before, Files());
        Assert.Equal([first], Kept(id));

        string[] Files() => [.. Directory.GetFiles(Place, "*", SearchOption.AllDirectories).Order()];
    }

    [Fact]
    public async Task A_run_that_is_cancelled_while_it_deletes_old_backups_has_its_backup_and_deletes_the_rest_next_time()
    {
        await WriteAsync("users/1");
        long id = await _scheduler.PutAsync("shop", Nightly with { KeepFor = TimeSpan.FromDays(1), KeepAtLeast = 1 }, Cancel);
        await RunAsync(id, BackupRunKind.Full);
        _clock.Now = _clock.Now.AddDays(3);
        using var stop = new CancellationTokenSource();
        _folders.Deleting = _ => stop.Cancel();
        string second = (await RunUntilAsync(id, BackupRunKind.Full, stop.Token)).Object;
        Assert.Equal(second, Kept(id)[^1]);
        Assert.Equal(Kept(id), await PartsAsync(Place));
        Assert.Equal(2, Kept(id).Length);

        _folders.Deleting = static _ => { };
        string third = (await RunAsync(id, BackupRunKind.Full)).Object;
        Assert.Equal([second, third], Kept(id));
        Assert.Equal(Kept(id), await PartsAsync(Place));
    }

    [Fact]
    public async Task Backups_that_cannot_be_read_back_are_deleted_when_their_time_is_over()
    {
        await WriteAsync("users/1");
        long id = await _scheduler.PutAsync("shop", Nightly with { KeepFor = TimeSpan.FromDays(1), KeepAtLeast = 1 }, Cancel);
        _folders.Reading = static _ => throw new DestinationException(DestinationFault.Failed, "It cannot be read.");
        for (int day = 0; day < 5; day++)
        {
            Assert.Contains("It cannot be read.", (await RunAsync(id, BackupRunKind.Full)).Problem, StringComparison.Ordinal);
            _clock.Now = _clock.Now.AddDays(1);
        }

        Assert.Equal(Kept(id), await PartsAsync(Place));
        Assert.InRange(Kept(id).Length, 1, 3);
    }

    [Fact]
    public void A_state_that_does_not_say_where_backups_are_unproven_has_none()
    {
        var kept = new KeptBackup("shop/1", _clock.Now.UtcDateTime, 1, null, 1, [Place], IsProven: true);
        var record = new BackupTaskRecord(
            BackupTaskRecord.CurrentFormat, Place, Nightly, new BackupTaskState { Kept = [kept] });
        string json = Encoding.UTF8.GetString(record.ToJson());
        string older = json.Replace(",\"Unproven\":[]", "", StringComparison.OrdinalIgnoreCase);
        Assert.NotEqual(json, older);
        Assert.Empty(BackupTaskRecord.FromJson(Encoding.UTF8.GetBytes(older)).State.Kept[0].Unproven);
    }

    private Task<BackupRunReport> RunAsync(long id, BackupRunKind kind) => RunUntilAsync(id, kind, Cancel);

    private Task<BackupRunReport> RunUntilAsync(long id, BackupRunKind kind, CancellationToken cancellationToken)
    {
        _clock.Now = _clock.Now.AddMinutes(1);
        return _scheduler.RunAsync("shop", id, kind, cancellationToken: cancellationToken);
    }

    private string[] Kept(long id) => [.. _scheduler.Find("shop", id)!.State.Kept.Select(static backup => backup.Object)];

    /// <summary>The names of the backups that lie in a folder, oldest first.</summary>
    private static async Task<string[]> PartsAsync(string folder)
    {
        using var place = new FolderDestination(folder);
        return [.. (await BackupName.ListAsync(place, "shop", Cancel)).Select(static point => point.Object).Order()];
    }

    private async Task WriteAsync(string id)
    {
        Database database = _catalog.Find("shop") ?? throw new InvalidOperationException("There is no such database.");
        using var batch = new WriteBatch(database.Options);
        batch.Put(id, Encoding.UTF8.GetBytes("""{"name":"Ada","@metadata":{"@collection":"Users"}}"""));
        await database.WriteAsync(batch, Cancel);
    }

    /// <summary>Each look at it is a second later.</summary>
    private sealed class TickingClock : TimeProvider
    {
        private long _seconds;

        public override DateTimeOffset GetUtcNow() =>
            new DateTimeOffset(2026, 1, 31, 12, 0, 0, TimeSpan.Zero).AddSeconds(Interlocked.Increment(ref _seconds));
    }
}
