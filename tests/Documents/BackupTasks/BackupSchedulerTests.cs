using System.Text;
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Catalogs;
using Treepie.Destinations;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.BackupTasks;

/// <summary>
/// Tasks over a clock that the test sets: due, missed, failed, proven, kept and deleted, and the same after a restart.
/// </summary>
public sealed class BackupSchedulerTests : IAsyncDisposable
{
    private readonly TemporaryDirectory _files = new();
    private readonly ManualClock _clock = new();
    private DatabaseCatalog _catalog;
    private BackupScheduler _scheduler;

    public BackupSchedulerTests()
    {
        _catalog = Open();
        _catalog.Create("shop");
        _scheduler = Scheduler();
    }

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    private string Place => Path.Combine(_files.Path, "place");

    public async ValueTask DisposeAsync()
    {
        await _scheduler.DisposeAsync();
        await _catalog.DisposeAsync();
        _files.Dispose();
    }

    [Fact]
    public async Task A_task_runs_when_it_is_due_and_what_it_wrote_is_proven_and_restores()
    {
        await WriteAsync("users/1", "Ada");
        long id = await _scheduler.PutAsync("shop", Nightly("0 2 * * *"), Cancel);
        Assert.Equal(0, await _scheduler.RunDueAsync(Cancel));
        _clock.Now = _clock.Now.AddHours(14);
        Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        Assert.Equal(0, await _scheduler.RunDueAsync(Cancel));

        BackupTaskInfo info = Info(id);
        Assert.Null(info.State.Error);
        Assert.Null(info.Alert);
        Assert.Equal(_clock.Now.UtcDateTime, info.State.LastFull);
        ProvenPoint proven = Assert.IsType<ProvenPoint>(info.State.LastProven);
        Assert.Equal((1L, Place), (proven.Documents, proven.Address));
        Assert.Equal(proven, _scheduler.LastProven("shop"));
        using BackupDestination place = new FolderDestination(Place);
        RestorePoint point = Assert.Single(await BackupName.ListAsync(place, "shop", Cancel));
        Assert.Equal(("shop", proven.Object), (point.Database, point.Object));
        await using Stream stored = await place.OpenAsync(point.Object, Cancel);
        BackupReport restored = await _catalog.RestoreAsync("again", stored, encrypted: false, null, null, Cancel);
        Assert.Equal(proven.ContentHash, restored.ContentHash);
        Assert.NotNull(_catalog.Find("again"));
    }

    [Fact]
    public async Task A_task_that_is_put_while_the_last_one_is_deleted_is_found_after_a_restart()
    {
        long last = await _scheduler.PutAsync("shop", Nightly("0 2 * * *"), Cancel);
        string folder = _catalog.Find("shop")!.DataDirectory;
        for (int round = 0; round < 300; round++)
        {
            long old = last;
            Task<bool> delete = Task.Run(() => _scheduler.DeleteAsync("shop", old, Cancel), Cancel);
            last = await Task.Run(() => _scheduler.PutAsync("shop", Nightly("0 2 * * *"), Cancel), Cancel);
            Assert.True(await delete);
            Assert.True(BackupTaskStore.MayHaveTasks(folder), $"round {round}");
        }
    }

    [Fact]
    public async Task Times_that_were_missed_come_up_once_after_a_restart_and_the_state_is_there()
    {
        await WriteAsync("users/1", "Ada");
        long id = await _scheduler.PutAsync("shop", Nightly("0 * * * *"), Cancel);
        _clock.Now = _clock.Now.AddHours(1);
        Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        BackupTaskState before = Info(id).State;

        await RestartAsync();
        Assert.Equal(before.LastProven, Info(id).State.LastProven);
        Assert.Equal(before.Kept[0].Object, Assert.Single(Info(id).State.Kept).Object);
        _clock.Now = _clock.Now.AddDays(3);
        Assert.NotNull(Info(id).Alert);
        Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        Assert.Equal(0, await _scheduler.RunDueAsync(Cancel));
        Assert.Equal((2, null), (Info(id).State.Kept.Count, Info(id).Alert));
    }

    [Fact]
    public async Task Between_full_backups_nothing_is_written_unless_something_changed()
    {
        await WriteAsync("users/1", "Ada");
        long id = await _scheduler.PutAsync("shop", Nightly("0 0 1 1 *") with { IncrementalSchedule = "*/10 * * * *" }, Cancel);
        for (int step = 0; step < 4; step++)
        {
            if (step == 2)
                await WriteAsync("users/2", "Bob");
            _clock.Now = _clock.Now.AddMinutes(10);
            Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        }

        Assert.Equal(2, Info(id).State.Kept.Count);
        Assert.Equal(_clock.Now.UtcDateTime, Info(id).State.LastIncremental);
    }

    [Theory]
    [InlineData(BackupKind.Snapshot)]
    [InlineData(BackupKind.Logical)]
    public async Task A_chain_goes_on_from_its_last_link_is_proven_and_restores(BackupKind kind)
    {
        await WriteAsync("users/1", "Ada");
        long id = await _scheduler.PutAsync(
            "shop", Nightly("0 0 1 1 *") with { Kind = kind, IncrementalSchedule = "*/10 * * * *" }, Cancel);
        for (int step = 0; step < 3; step++)
        {
            await WriteAsync($"users/{step}", "Bob");
            _clock.Now = _clock.Now.AddMinutes(10);
            Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
            Assert.Equal("", Info(id).State.Error ?? "");
        }

        BackupTaskState state = Info(id).State;
        Assert.Equal([false, true, true], state.Kept.Select(backup => backup.IsIncremental));
        Assert.Equal((state.Kept[^1].Object, 3L), (state.LastProven?.Object, state.LastProven?.Documents));
        using BackupDestination place = new FolderDestination(Place);
        IReadOnlyList<RestorePoint> points = await BackupName.ListAsync(place, "shop", Cancel);
        BackupPart[] parts = [
            .. BackupName.ChainOf(points, points[0])
                .Select(point => new BackupPart(point.Object, async stop => await place.OpenAsync(point.Object, stop)))];
        Assert.Equal(3, parts.Length);
        await _catalog.RestoreAsync("again", parts, encrypted: false, null, null, Cancel);
        Assert.Equal(_catalog.Find("shop")?.GetStatistics().LastEtag, _catalog.Find("again")?.GetStatistics().LastEtag);
        Assert.All(
            _scheduler.List("again"),
            info => Assert.True(info.Task.IsDisabled, "The copy would write over the backups of the original."));
    }

    [Fact]
    public async Task Where_no_increment_can_go_on_the_next_is_a_full_backup_and_an_identity_alone_is_a_change()
    {
        await WriteAsync("users/1", "Ada");
        Database shop = Assert.IsType<Database>(_catalog.Find("shop"));
        long id = await _scheduler.PutAsync("shop", Nightly(null), Cancel);
        await _scheduler.RunAsync("shop", id, isFull: true, cancellationToken: Cancel);
        _clock.Now = _clock.Now.AddMinutes(1);
        Assert.Null((await _scheduler.RunAsync("shop", id, isFull: false, cancellationToken: Cancel)).Report);
        await shop.NextIdentityAsync("invoices", Cancel);
        BackupRunReport identity = await _scheduler.RunAsync("shop", id, isFull: false, cancellationToken: Cancel);
        Assert.Equal(
            (true, 0L, 1L),
            (identity.Report?.IsIncremental, identity.Report?.Counts.Documents, identity.Report?.Counts.Identities));

        await shop.WriteAsync(new WriteBatch().Delete("users/1"), Cancel);
        await shop.PurgeTombstonesAsync(shop.LastEtag, Cancel); // what an increment would have to say of it is forgotten
        _clock.Now = _clock.Now.AddMinutes(1);
        BackupRunReport forgotten = await _scheduler.RunAsync("shop", id, isFull: false, cancellationToken: Cancel);
        Assert.Equal((false, null), (forgotten.Report?.IsIncremental, forgotten.Problem));

        await shop.WriteAsync(new WriteBatch().Put("users/2", "{}"u8.ToArray()), Cancel);
        File.Delete(Path.Combine(Place, forgotten.Object)); // the chain has lost its beginning, and reading it back says so
        _clock.Now = _clock.Now.AddMinutes(1);
        BackupRunReport broken = await _scheduler.RunAsync("shop", id, isFull: false, cancellationToken: Cancel);
        Assert.Contains(forgotten.Object, broken.Problem, StringComparison.Ordinal);
        _clock.Now = _clock.Now.AddMinutes(1);
        BackupRunReport again = await _scheduler.RunAsync("shop", id, isFull: false, cancellationToken: Cancel);
        Assert.Equal((false, null), (again.Report?.IsIncremental, again.Problem));
    }

    [Fact]
    public async Task A_place_that_fails_is_named_and_does_not_spoil_the_other()
    {
        await WriteAsync("users/1", "Ada");
        string bad = Path.Combine(_files.Path, "file");
        await File.WriteAllTextAsync(bad, "no folder", Cancel);
        long id = await _scheduler.PutAsync(
            "shop",
            Nightly(null) with
            {
                Destinations = [new DestinationSettings { Address = bad }, new DestinationSettings { Address = Place }]
            },
            Cancel);
        BackupRunReport report = await _scheduler.RunAsync("shop", id, isFull: true, cancellationToken: Cancel);
        Assert.Contains(bad, report.Problem, StringComparison.Ordinal);
        Assert.Equal([Place], Assert.Single(report.Kept).Addresses);
        Assert.Equal(Place, Assert.IsType<ProvenPoint>(report.Proven).Address);
        Assert.Equal(report.Problem, Info(id).State.Error);
    }

    [Fact]
    public async Task A_task_whose_only_place_fails_comes_again_later_and_later()
    {
        await File.WriteAllTextAsync(Place, "no folder", Cancel);
        long id = await _scheduler.PutAsync("shop", Nightly("0 2 * * *"), Cancel);
        _clock.Now = _clock.Now.AddHours(14);
        Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        foreach (int minutes in (int[])[1, 2, 4])
        {
            Assert.Equal(_clock.Now.UtcDateTime.AddMinutes(minutes), Info(id).Next?.At);
            _clock.Now = _clock.Now.AddMinutes(minutes);
            Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        }

        Assert.Contains(Place, Info(id).State.Error, StringComparison.Ordinal);
        File.Delete(Place);
        _clock.Now = _clock.Now.AddMinutes(8);
        Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        Assert.Equal((0, null), (Info(id).State.Failures, Info(id).State.Error));
    }

    [Fact]
    public async Task Old_backups_are_deleted_but_never_the_last_that_is_proven()
    {
        await WriteAsync("users/1", "Ada");
        long id = await _scheduler.PutAsync(
            "shop", Nightly(null) with { KeepFor = TimeSpan.FromDays(2), KeepAtLeast = 2 }, Cancel);
        for (int day = 0; day < 6; day++)
        {
            await _scheduler.RunAsync("shop", id, isFull: true, cancellationToken: Cancel);
            _clock.Now = _clock.Now.AddDays(1);
        }

        IReadOnlyList<KeptBackup> kept = Info(id).State.Kept;
        Assert.Equal(3, kept.Count);
        using BackupDestination place = new FolderDestination(Place);
        Assert.Equal(kept.Select(backup => backup.Object), (await place.ListAsync("", Cancel)).Select(item => item.Name));
    }

    [Fact]
    public void Retention_keeps_what_it_must_whatever_the_ages_are()
    {
        var random = new Random(Seed.Next());
        DateTime now = new(2026, 1, 31, 0, 0, 0, DateTimeKind.Utc);
        for (int round = 0; round < 500; round++)
        {
            List<KeptBackup> kept = [
                .. Enumerable.Range(0, random.Next(0, 12))
                    .Select(
                        i => new KeptBackup(
                            $"b{i}", now.AddHours(-random.Next(200)), i, null, 1, [], random.Next(3) == 0,
                            IsIncremental: random.Next(2) == 0))
                    .OrderBy(backup => backup.TakenAt)];
            int least = random.Next(1, 5);
            TimeSpan age = TimeSpan.FromHours(random.Next(150));
            IReadOnlyList<KeptBackup> gone = Retention.Deletable(
                kept, kept.Take(Retention.Expired(kept, default, age, now)).Contains, least);
            Assert.All(gone, backup => Assert.True(now - backup.TakenAt > age));
            List<KeptBackup> left = [.. kept.Except(gone)];
            Assert.True(left.Count >= Math.Min(kept.Count, least));
            Assert.All(
                left.Where(backup => backup.IsIncremental),
                backup => Assert.True(
                    kept.IndexOf(backup) == 0 || left.Contains(kept[kept.IndexOf(backup) - 1]), "A link is missing."));
            if (kept.LastOrDefault(backup => backup.IsProven) is { } proven)
                Assert.DoesNotContain(proven, gone);
        }

    }

    [Fact]
    public async Task A_backup_that_is_not_what_was_written_is_not_proven()
    {
        await WriteAsync("users/1", "Ada");
        var scheduler = new BackupScheduler(new CatalogBackupSource(_catalog), new DestinationProviders(new BadMemory()), _clock);
        await using (scheduler)
        {
            BackupTask task = Nightly(null) with { Destinations = [new DestinationSettings { Address = "bad://memory" }] };
            long id = await scheduler.PutAsync("shop", task, Cancel);
            BackupRunReport report = await scheduler.RunAsync("shop", id, BackupRunKind.Full, 0, null, Cancel);
            Assert.Null(report.Proven);
            Assert.Contains("reading it back failed", report.Problem, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task A_backup_taken_once_whose_proof_fails_is_an_error_that_says_what_was_written()
    {
        await WriteAsync("users/1", "Ada");
        var scheduler = new BackupScheduler(new CatalogBackupSource(_catalog), new DestinationProviders(new BadMemory()), _clock);
        await using (scheduler)
        {
            BackupTask task = Nightly(null) with
            {
                Destinations = [new DestinationSettings { Address = Place }, new DestinationSettings { Address = "bad://memory" }]
            };
            BackupException error = await Assert.ThrowsAsync<BackupException>(
                () => scheduler.RunOnceAsync("shop", task, null, Cancel));
            Assert.Equal(BackupFault.RestoredOtherwise, error.Fault);
            Assert.Contains("bad://memory", error.Message, StringComparison.Ordinal);
            Assert.Contains("reading it back failed", error.Message, StringComparison.Ordinal);
            Assert.Contains($"proven at {Place}", error.Message, StringComparison.Ordinal);
            _clock.Now = _clock.Now.AddMinutes(1);
            BackupRunReport unproven = await scheduler.RunOnceAsync("shop", task with { Proves = false }, null, Cancel);
            Assert.Null(unproven.Problem);
        }
    }

    [Fact]
    public async Task A_task_that_never_succeeded_is_an_alert_from_its_first_failure_on_whether_it_proves_or_not()
    {
        await WriteAsync("users/1", "Ada");
        await File.WriteAllTextAsync(Place, "a file where a folder should be", Cancel);
        long proves = await _scheduler.PutAsync("shop", Nightly("0 2 1 * *"), Cancel),
            writes = await _scheduler.PutAsync("shop", Nightly("0 2 1 * *") with { Name = "other", Proves = false }, Cancel);
        Assert.Equal((null, null), (Info(proves).Alert, Info(writes).Alert));
        foreach (long id in (long[])[proves, writes])
        {
            await Assert.ThrowsAsync<DestinationException>(
                () => _scheduler.RunAsync("shop", id, BackupRunKind.Full, 0, null, Cancel));
            Assert.Contains("never succeeded", Info(id).Alert, StringComparison.Ordinal);
            Assert.Contains(Place, Info(id).Alert, StringComparison.Ordinal);
        }

        File.Delete(Place);
        await _scheduler.RunAsync("shop", writes, BackupRunKind.Full, 0, null, Cancel);
        Assert.Null(Info(writes).Alert);
        _clock.Now = _clock.Now.AddDays(70);
        Assert.Contains("last backup", Info(writes).Alert, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("0 2 * *", null, "five are wanted")]
    [InlineData("0 2 * * *", "Europe/Nowhere", "no time zone")]
    public async Task A_task_that_cannot_be_is_refused_and_not_kept(string schedule, string? zone, string expected)
    {
        BackupTaskException error = await Assert.ThrowsAsync<BackupTaskException>(
            () => _scheduler.PutAsync("shop", Nightly(schedule) with { TimeZone = zone }, Cancel));
        Assert.Contains(expected, error.Message, StringComparison.Ordinal);
        Assert.Empty(_scheduler.List("shop"));
    }

    [Fact]
    public async Task Bad_places_kinds_and_keys_are_refused_and_secrets_are_in_no_text()
    {
        var secret = new DestinationSettings { Address = "ftp://somewhere", AccessKey = "name", SecretKey = "hidden-7f3" };
        BackupTaskException kind = await Assert.ThrowsAsync<BackupTaskException>(
            () => _scheduler.PutAsync("shop", Nightly(null) with { Destinations = [secret] }, Cancel));
        Assert.Contains("cannot open", kind.Message, StringComparison.Ordinal);
        Assert.DoesNotContain(
            "hidden-7f3", kind + secret.ToString() + (Nightly(null) with { Destinations = [secret], Key = "hidden-7f3" }),
            StringComparison.Ordinal);
        await Assert.ThrowsAsync<BackupTaskException>(
            () => _scheduler.PutAsync("shop", Nightly(null) with { Destinations = [] }, Cancel));
        await Assert.ThrowsAsync<BackupTaskException>(
            () => _scheduler.PutAsync("shop", Nightly(null) with { Compression = (BackupCompression)77 }, Cancel));
        await Assert.ThrowsAsync<BackupTaskException>(
            () => _scheduler.PutAsync(
                "shop", Nightly(null) with { Key = "AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA=" }, Cancel));
        await Assert.ThrowsAsync<BackupTaskException>(() => _scheduler.PutAsync("shop", Nightly(null) with { Id = 9 }, Cancel));
    }

    private DatabaseCatalog Open() => new(Path.Combine(_files.Path, "data"), new DatabaseOptions { TimeProvider = _clock });

    private BackupScheduler Scheduler() => new(new CatalogBackupSource(_catalog), new DestinationProviders(), _clock);

    private async Task RestartAsync()
    {
        await _scheduler.DisposeAsync();
        await _catalog.DisposeAsync();
        _catalog = Open();
        _scheduler = Scheduler();
    }

    private BackupTask Nightly(string? schedule) =>
        new() { Name = "nightly", FullSchedule = schedule, Destinations = [new DestinationSettings { Address = Place }] };

    private BackupTaskInfo Info(long id) =>
        _scheduler.Find("shop", id) ?? throw new InvalidOperationException("There is no such task.");

    private async Task WriteAsync(string id, string name)
    {
        Database database = _catalog.Find("shop") ?? throw new InvalidOperationException("There is no such database.");
        var batch = new WriteBatch(database.Options);
        batch.Put(id, Encoding.UTF8.GetBytes($"{{\"name\":\"{name}\",\"@metadata\":{{\"@collection\":\"Users\"}}}}"));
        await database.WriteAsync(batch, Cancel);
    }

    /// <summary>A place that keeps one byte wrong.</summary>
    private sealed class BadMemory : DestinationProvider
    {
        public override bool Takes(string address) => address.StartsWith("bad:", StringComparison.Ordinal);

        public override BackupDestination Open(DestinationSettings settings) => new Memory();

        private sealed class Memory : BackupDestination
        {
            private readonly MemoryStream _content = new();

            public override string Address => "bad://memory";

            public override bool IsLocal => false;

            public override Task ProbeAsync(long expectedBytes, CancellationToken cancellationToken = default) =>
                Task.CompletedTask;

            public override Task<BackupUpload> CreateAsync(string name, CancellationToken cancellationToken = default) =>
                Task.FromResult<BackupUpload>(new Upload(_content));

            public override Task<IReadOnlyList<BackupObject>> ListAsync(
                string prefix, CancellationToken cancellationToken = default) => throw new NotSupportedException();

            public override Task<Stream> OpenAsync(string name, CancellationToken cancellationToken = default)
            {
                byte[] bytes = _content.ToArray();
                bytes[bytes.Length / 2] ^= 1;
                return Task.FromResult<Stream>(new MemoryStream(bytes));
            }

            public override Task DeleteAsync(string name, CancellationToken cancellationToken = default) => Task.CompletedTask;

            private sealed class Upload(MemoryStream content) : BackupUpload
            {
                public override ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken = default) =>
                    content.WriteAsync(bytes, cancellationToken);

                public override Task CommitAsync(CancellationToken cancellationToken = default) => Task.CompletedTask;

                protected override ValueTask DisposeCoreAsync() => ValueTask.CompletedTask;
            }
        }
    }
}
