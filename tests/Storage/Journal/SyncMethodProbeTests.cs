using Treepie.Storage.Files;
using Treepie.Storage.Simulation;

namespace Treepie.Storage.Tests.Journal;

/// <summary>The way in which frames become durable is measured while others may take the processor at any moment.</summary>
public sealed class SyncMethodProbeTests
{
    [Fact]
    public void A_thread_that_is_interrupted_before_it_measures_anything_measures_once_and_writes()
    {
        var disk = new SimulatedDisk(new Random(1)) { DirectClock = new SimulatedClock() };
        using StorageEnvironment environment = StorageEnvironment.Open(
            new World(disk, new LateClock(), new Random(1), false),
            SmallDisk.Options with { FirstJournalFileBytes = 64 << 10 }); // smaller files are not measured
        for (int key = 0; key < 10; key++)
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(key), "v"u8));
        Assert.NotEqual(JournalSyncMethod.NotChosen, environment.GetStatistics().JournalSyncMethod);
        Assert.Empty(environment.Check(TestContext.Current.CancellationToken).Problems);
    }

    /// <summary>A second passes between any two looks at it.</summary>
    private sealed class LateClock : TimeProvider
    {
        private long _seconds;

        public override long TimestampFrequency => 1;

        public override long GetTimestamp() => Interlocked.Increment(ref _seconds);
    }
}
