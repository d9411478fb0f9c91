using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>
/// Guarantee "checkpoint write fails": not fatal, retried with increasing delays, reported in the statistics, and limited by
/// a bound at which writes are refused.
/// </summary>
public sealed class CheckpointFailureTests
{
    private static readonly StorageOptions _options = new()
    {
        MaxDataFileBytes = 64 << 20,
        ScratchReserveBytes = 256 << 20,
        ScratchBudgetBytes = 16 << 20,
        FirstJournalFileBytes = 16 << 10,
        MaxJournalFileBytes = 32 << 10,
        MaxJournalBytes = 512 << 10,
    };

    private readonly SimulatedDisk _disk = new(new Random(1));
    private readonly SimulatedClock _clock = new();
    private bool _fails;
    private int _attempts;

    public CheckpointFailureTests() => _disk.Acting = (kind, name) =>
    {
        if (!_fails || name != FormatLimits.DataFileName || kind is not (DiskOperation.Write or DiskOperation.Sync))
            return;
        _attempts++;
        throw new StorageException("The data file cannot be written.");
    };

    [Fact]
    public void Checkpoints_that_fail_are_tried_again_after_waits_that_double_and_raise_an_alarm()
    {
        using StorageEnvironment environment = Open();
        Put(environment, 0);
        _fails = true;
        Write(environment, 60);
        Assert.Equal(1, _attempts); // the clock does not advance
        StorageStatistics statistics = environment.GetStatistics();
        Assert.Equal(1, statistics.CheckpointFailures);
        Assert.Equal("The data file cannot be written.", statistics.LastCheckpointError);
        foreach (int waitMs in new[] { 250, 500, 1000, 2000 })
        {
            int before = _attempts;
            _clock.Advance(TimeSpan.FromMilliseconds(waitMs - 1));
            Put(environment, waitMs);
            Assert.Equal(before, _attempts);
            _clock.Advance(TimeSpan.FromMilliseconds(1));
            Put(environment, waitMs);
            Assert.Equal(before + 1, _attempts);
        }

        _fails = false;
        _clock.Advance(TimeSpan.FromSeconds(4));
        long checkpoints = environment.GetStatistics().Checkpoints;
        Put(environment, 1);
        statistics = environment.GetStatistics();
        Assert.Equal(0, statistics.CheckpointFailures);
        Assert.Null(statistics.LastCheckpointError);
        Assert.Equal(checkpoints + 1, statistics.Checkpoints);
        Assert.Equal(TimeSpan.Zero, statistics.SinceLastCheckpoint);
        Assert.Empty(environment.Check().Problems);
    }

    [Fact]
    public void At_the_bound_writes_are_refused_with_the_reason_reads_go_on_and_writing_comes_back_by_itself()
    {
        int written = 0;
        using (StorageEnvironment environment = Open())
        {
            Put(environment, 0);
            _fails = true;
            StorageException error = Assert.Throws<StorageException>(() =>
            {
                for (; written < 1000; written++)
                    Put(environment, written);
            });
            Assert.Contains("refused until a checkpoint succeeds", error.Message, StringComparison.Ordinal);
            Assert.Contains("The data file cannot be written", error.Message, StringComparison.Ordinal);
            StorageStatistics statistics = environment.GetStatistics();
            Assert.True(statistics.IsWritingRefused);
            Assert.InRange(
                statistics.JournalBytesSinceCheckpoint, _options.MaxJournalBytes, _options.MaxJournalBytes + (32 << 10));
            using (ReadTransaction read = environment.BeginRead())
                Assert.True(read.FindTree("t")!.Contains(BitConverter.GetBytes(written - 1)));

            _fails = false;
            Assert.Throws<StorageException>(() => Put(environment, written)); // not due yet
            _clock.Advance(TimeSpan.FromSeconds(61));
            Put(environment, written);
            Assert.False(environment.GetStatistics().IsWritingRefused);
            Assert.True(environment.GetStatistics().JournalBytes < 2 * _options.MaxJournalBytes);
        }

        using StorageEnvironment again = Open();
        using ReadTransaction all = again.BeginRead();
        Assert.Equal(written + 1, all.FindTree("t")!.Count);
        Assert.Empty(again.Check().Problems);
    }

    [Fact]
    public void Memory_of_a_relaxed_environment_has_a_bound_too_when_checkpoints_fail()
    {
        using StorageEnvironment environment = Open(
            _options with { Durability = Durability.Relaxed, ScratchBudgetBytes = 1 << 20 });
        _fails = true;
        Assert.Throws<StorageException>(() =>
        {
            for (int i = 0; i < 100_000; i++)
                environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(i), new byte[2000]));
        });
        Assert.InRange(environment.GetStatistics().ScratchBytes, 2 << 20, 3 << 20);
        _fails = false;
        environment.Checkpoint();
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put("k"u8, "v"u8));
        Assert.Empty(environment.Check().Problems);
    }

    private static void Put(StorageEnvironment environment, int key) =>
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(key), new byte[1500]));

    private static void Write(StorageEnvironment environment, int count)
    {
        for (int i = 0; i < count; i++)
            Put(environment, i);
    }

    private StorageEnvironment Open(StorageOptions? options = null) => StorageEnvironment.Open(
        new World(_disk, _clock, new Random(1), false) { Ages = new CoarseClock(() => _clock.NowMs) }, options ?? _options);
}
