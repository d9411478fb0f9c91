using System.Text;
using Treepie.BackupTasks;
using Treepie.Catalogs;
using Treepie.Destinations;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.BackupTasks;

/// <summary>Tasks whose clock was ahead by years, or behind, for a while.</summary>
public sealed class WrongClockTests : IAsyncDisposable
{
    private static readonly DateTimeOffset _now = new(2026, 11, 27, 12, 0, 0, TimeSpan.Zero);

    private readonly TemporaryDirectory _files = new();
    private readonly ManualClock _clock = new() { Now = _now };
    private readonly DatabaseCatalog _catalog;
    private readonly BackupScheduler _scheduler;

    public WrongClockTests()
    {
        _catalog = new DatabaseCatalog(Path.Combine(_files.Path, "data"), new DatabaseOptions { TimeProvider = _clock });
        _catalog.Create("shop");
        _scheduler = new BackupScheduler(new CatalogBackupSource(_catalog), new DestinationProviders(), _clock);
    }

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public async ValueTask DisposeAsync()
    {
        await _scheduler.DisposeAsync();
        await _catalog.DisposeAsync();
        _files.Dispose();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task What_ran_while_the_clock_was_ahead_is_due_at_once_and_then_by_its_schedule(bool isCreatedAhead)
    {
        await WriteAsync("users/1");
        if (isCreatedAhead)
            _clock.Now = _now.AddYears(10);
        long id = await _scheduler.PutAsync(
            "shop",
            new BackupTask
            {
                Name = "nightly",
                FullSchedule = "0 2 * * *",
                IncrementalSchedule = "0 * * * *",
                KeepFor = TimeSpan.FromDays(1),
                KeepAtLeast = 1,
                Destinations = [new DestinationSettings { Address = Path.Combine(_files.Path, "place") }]
            },
            Cancel);
        _clock.Now = _now.AddYears(10).AddDays(1);
        Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        await WriteAsync("users/2");
        _clock.Now = _clock.Now.AddHours(1);
        Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        Assert.Equal(2, Info(id).State.Kept.Count);
        await _scheduler.DelayAsync("shop", id, TimeSpan.FromHours(1));

        _clock.Now = _now;
        Assert.Contains("yet to come", Info(id).Alert, StringComparison.Ordinal);
        Assert.True(Info(id).Next?.At <= _now.UtcDateTime);
        Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        Assert.Equal((_now.UtcDateTime, null), (Info(id).State.LastFull, Info(id).Alert));
        Assert.Equal(0, await _scheduler.RunDueAsync(Cancel));
        for (int hour = 1; hour <= 14; hour++)
        {
            _clock.Now = _now.AddHours(hour);
            Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
            Assert.Equal(0, await _scheduler.RunDueAsync(Cancel));
        }

        Assert.Equal(_clock.Now.UtcDateTime, Info(id).State.LastFull);

        // those of the clock that was ahead expire with those that follow them
        _clock.Now = _now.AddDays(3);
        while (await _scheduler.RunDueAsync(Cancel) > 0)
        {
            // first an increment that is due for longer, and then a full backup
        }

        Assert.DoesNotContain(Info(id).State.Kept, static backup => backup.TakenAt.Year > 2030);
        Assert.Null(Info(id).Alert);
    }

    [Theory]
    [InlineData(60)]
    [InlineData(20_000)]
    public async Task A_run_while_the_clock_is_behind_lets_no_backup_expire(int daysBehind)
    {
        long id = await _scheduler.PutAsync(
            "shop",
            new BackupTask
            {
                Name = "nightly",
                FullSchedule = "0 2 * * *",
                KeepFor = TimeSpan.FromDays(30),
                KeepAtLeast = 1,
                Destinations = [new DestinationSettings { Address = Path.Combine(_files.Path, "place") }]
            },
            Cancel);
        for (int day = 1; day <= 30; day++)
        {
            _clock.Now = _now.AddDays(day);
            await WriteAsync($"users/{day}");
            Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        }

        _clock.Now = _now.AddDays(30 - daysBehind);
        await WriteAsync("users/x");
        Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        _clock.Now = _now.AddDays(31).AddHours(-1);
        await WriteAsync("users/31");
        Assert.Equal(1, await _scheduler.RunDueAsync(Cancel));
        Assert.Equal(32, Info(id).State.Kept.Count);
        string behind = Info(id).State.Kept[30].Object;
        for (int day = 31; day <= 60; day++)
        {
            _clock.Now = _now.AddDays(day);
            await WriteAsync($"users/{day}");
            await _scheduler.RunDueAsync(Cancel);
            Assert.Contains(Info(id).State.Kept, backup => backup.Object == behind);
        }
    }

    [Fact]
    public async Task An_increment_does_not_go_on_from_a_backup_whose_name_would_stand_after_its_own()
    {
        await WriteAsync("users/1");
        long id = await _scheduler.PutAsync(
            "shop",
            new BackupTask
            {
                Name = "by hand",
                Destinations = [new DestinationSettings { Address = Path.Combine(_files.Path, "place") }]
            },
            Cancel);
        _clock.Now = _now.AddYears(10);
        await _scheduler.RunAsync("shop", id, isFull: true, cancellationToken: Cancel);
        _clock.Now = _now;
        await WriteAsync("users/2");
        BackupRunReport report = await _scheduler.RunAsync("shop", id, isFull: false, cancellationToken: Cancel);
        Assert.False(report.Report?.IsIncremental);
    }

    private BackupTaskInfo Info(long id) =>
        _scheduler.Find("shop", id) ?? throw new InvalidOperationException("There is no such task.");

    private async Task WriteAsync(string id)
    {
        Database database = _catalog.Find("shop") ?? throw new InvalidOperationException("There is no such database.");
        await database.WriteAsync(new WriteBatch().Put(id, Encoding.UTF8.GetBytes("{}")), Cancel);
    }
}
