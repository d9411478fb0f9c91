using Treepie.Backups;
using Treepie.Tests.Support;
using Treepie.Writes;

namespace Treepie.Documents.Tests.Backups;

/// <summary>Backups that let writers go first: how long they rest, that they end, and that nothing is lost by it.</summary>
public sealed class BackupPaceTests : IDisposable
{
    private static readonly TimeSpan _piece = TimeSpan.FromMilliseconds(2);

    private readonly TemporaryDirectory _files = new();
    private readonly SkippingClock _clock = new();
    private long _commit;

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    public void Dispose() => _files.Dispose();

    [Theory]
    [InlineData(5)]
    [InlineData(25)]
    [InlineData(50)]
    [InlineData(99)]
    public void Of_its_time_a_backup_works_its_share_while_others_commit_and_all_of_it_while_nobody_does(int percent)
    {
        var pace = new BackupPace(percent, _clock, () => _commit);
        for (int piece = 0; piece < 500; piece++)
        {
            _clock.Skip(_piece);
            pace.GiveWay(Cancel);
        }

        Assert.Equal(0, _clock.Waits);
        TimeSpan work = TimeSpan.Zero, began = _clock.Elapsed;
        for (int piece = 0; piece < 1_000; piece++)
        {
            _commit++;
            _clock.Skip(_piece);
            work += _piece;
            pace.GiveWay(Cancel);
        }

        Assert.Equal(percent / 100.0, work / (_clock.Elapsed - began), 3);
    }

    [Fact]
    public void What_it_waits_for_anyway_is_rest_and_a_commit_in_a_rest_asks_for_no_other()
    {
        var pace = new BackupPace(25, _clock, () => _commit);
        for (int slice = 0; slice < 20; slice++)
        {
            _commit++;
            _clock.Skip(TimeSpan.FromMilliseconds(12));
            Wait(pace, TimeSpan.FromMilliseconds(36));
            pace.GiveWay(Cancel);
        }

        Assert.Equal(0, _clock.Waits);
        _commit++;
        _clock.Skip(TimeSpan.FromMilliseconds(12));
        Wait(pace, TimeSpan.FromMilliseconds(6));
        pace.GiveWay(Cancel);
        Assert.Equal((1, TimeSpan.FromMilliseconds(30)), (_clock.Waits, _clock.LastWait));

        _clock.Waiting = () => _commit++; // while it rests
        _commit++;
        _clock.Skip(TimeSpan.FromMilliseconds(12));
        pace.GiveWay(Cancel);
        _clock.Skip(TimeSpan.FromMilliseconds(12));
        pace.GiveWay(Cancel);
        Assert.Equal(2, _clock.Waits);
    }

    [Fact]
    public void A_machine_that_was_suspended_is_not_rested_for_and_a_rest_can_be_cancelled()
    {
        var pace = new BackupPace(5, _clock, () => _commit);
        _commit++;
        _clock.Skip(TimeSpan.FromHours(9));
        pace.GiveWay(Cancel);
        Assert.Equal(TimeSpan.FromSeconds(5), _clock.LastWait);

        using var stop = new CancellationTokenSource();
        _clock.Waiting = stop.Cancel;
        _clock.WaitsEnd = false;
        _commit++;
        _clock.Skip(TimeSpan.FromSeconds(1));
        Assert.ThrowsAny<OperationCanceledException>(() => pace.GiveWay(stop.Token));
    }

    [Theory]
    [InlineData(BackupKind.Logical)]
    [InlineData(BackupKind.Snapshot)]
    public async Task A_backup_and_its_verification_rest_while_somebody_writes_and_are_whole(BackupKind kind)
    {
        await using Database database = Database.Open(
            Path.Combine(_files.Path, "source"), new DatabaseOptions { TimeProvider = _clock });
        var random = new Random(Seed.Next());
        await RandomDatabase.FillAsync(database, random, 100, Cancel);
        byte[] noise = new byte[300_000];
        for (int i = 0; i < 12; i++)
        {
            random.NextBytes(noise);
            await database.WriteAsync(
                new WriteBatch().Put(
                    $"noise/{i}", System.Text.Encoding.UTF8.GetBytes($"{{\"text\":\"{Convert.ToBase64String(noise)}\"}}")),
                Cancel);
        }

        _clock.SkipsWhenAsked = TimeSpan.FromMilliseconds(6);
        int written = 0;
        BackupReport before = await database.BackupAsync(
            Stream.Null, new BackupOptions { Kind = kind, HashesContent = true }, null, Cancel);
        Assert.Equal(0, _clock.Waits);

        using var backup = new MemoryStream();
        var writing = new Writing(
            () => database.WriteAsync(new WriteBatch().Put($"meanwhile/{written++}", "{}"u8.ToArray()), Cancel)
                .GetAwaiter()
                .GetResult());
        BackupReport report = await database.BackupAsync(
            backup,
            new BackupOptions
            {
                Kind = kind,
                HashesContent = true,
                Compression = BackupCompression.None,
                PercentWhileWriting = 50
            },
            writing, Cancel);
        Assert.True(_clock.Waits > 0 && written > 0, "It did not rest.");
        Assert.Equal((before.ContentHash, before.Counts), (report.ContentHash, report.Counts));

        int waits = _clock.Waits;
        using var read = new ObservedReading(backup.ToArray(), () => writing.Report(null!)); // who is told does not ask what
        BackupReport verified = await Database.VerifyBackupAsync(
            read, new RestoreOptions { Pace = BackupPace.Of(database, 50) }, null, Cancel);
        Assert.True(_clock.Waits > waits, "Reading it back did not rest.");
        Assert.Equal((report.ContentHash, report.Counts), (verified.ContentHash, verified.Counts));
    }

    [Theory]
    [InlineData(4)]
    [InlineData(101)]
    public async Task A_share_that_is_none_is_refused(int percent)
    {
        await using Database database = Database.Open(Path.Combine(_files.Path, "source"));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(
            () => database.BackupAsync(Stream.Null, new BackupOptions { PercentWhileWriting = percent }, null, Cancel));
    }

    private void Wait(BackupPace pace, TimeSpan time)
    {
        long began = pace.Now;
        _clock.Skip(time);
        pace.HasWaited(began);
    }

    private sealed class Writing(Action write) : IProgress<BackupProgress>
    {
        public void Report(BackupProgress value) => write();
    }

    private sealed class ObservedReading(byte[] content, Action reading) : MemoryStream(content)
    {
        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            reading();
            return base.ReadAsync(buffer, cancellationToken);
        }
    }

    /// <summary>A clock whose waits are over at once, by the time that they were to take; or never.</summary>
    private sealed class SkippingClock : TimeProvider
    {
        private long _ticks = 1_000_000;

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public TimeSpan Elapsed => TimeSpan.FromTicks(Volatile.Read(ref _ticks));

        public TimeSpan SkipsWhenAsked { get; set; }

        public Action? Waiting { get; set; }

        public bool WaitsEnd { get; set; } = true;

        public int Waits { get; private set; }

        public TimeSpan LastWait { get; private set; }

        public void Skip(TimeSpan time) => Interlocked.Add(ref _ticks, time.Ticks);

        public override long GetTimestamp() => Interlocked.Add(ref _ticks, SkipsWhenAsked.Ticks);

        public override DateTimeOffset GetUtcNow() => new(new DateTime(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc) + Elapsed);

        public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
        {
            if (dueTime <= TimeSpan.Zero || dueTime > TimeSpan.FromSeconds(5))
                return System.CreateTimer(callback, state, dueTime, period); // of somebody else
            Waits++;
            LastWait = dueTime;
            Waiting?.Invoke();
            Skip(dueTime);
            return System.CreateTimer(
                callback, state, WaitsEnd ? TimeSpan.Zero : Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        }
    }
}
