using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests;

public sealed class StatisticsTests
{
    [Fact]
    public void Statistics_name_each_reader_with_its_age_the_oldest_first_and_what_is_held_back_for_whom()
    {
        var clock = new SimulatedClock();
        using StorageEnvironment environment = StorageEnvironment.Open(
            new World(new SimulatedDisk(new Random(1)), clock, new Random(1), false)
            {
                Ages = new CoarseClock(() => clock.NowMs)
            },
            new StorageOptions { MaxDataFileBytes = 64 << 20, ScratchReserveBytes = 64 << 20 });
        Rewrite();
        ReadTransaction report = environment.BeginRead("the monthly report");
        clock.Advance(TimeSpan.FromMinutes(10));
        Rewrite();
        using ReadTransaction nameless = environment.BeginRead();
        clock.Advance(TimeSpan.FromSeconds(5));
        environment.CreateSnapshot("kept");
        using (ReadTransaction snapshot = environment.OpenSnapshot("kept"))
        {
            StorageStatistics statistics = environment.GetStatistics();
            Assert.Equal(3, statistics.OpenReaders);
            Assert.Equal(new ReaderInfo("the monthly report", 1, TimeSpan.FromSeconds(605)), statistics.OldestReader);
            Assert.Equal(
                [statistics.Readers[0], new ReaderInfo(null, 2, TimeSpan.FromSeconds(5)), new ReaderInfo(
                    "kept", 3, TimeSpan.Zero)],
                statistics.Readers);
            Assert.Equal(1, statistics.OldestReaderTransactionId);
            Assert.Equal(1, statistics.NamedSnapshots);
            Assert.Equal(0, statistics.BytesHeldBySnapshots);
            // Pages that the report sees and the current state no longer uses.
            Assert.InRange(statistics.BytesHeldByReaders, 20 * 8192, 100 * 8192);
        }

        long before = environment.GetStatistics().BytesHeldByReaders;
        for (int round = 0; round < 20; round++)
        {
            Rewrite();
            environment.Checkpoint();
        }

        StorageStatistics later = environment.GetStatistics();
        // One version for each of two open snapshots, however much was written.
        Assert.InRange(later.BytesHeldByReaders, before, before * 5 / 2);
        Assert.InRange(later.BytesHeldBySnapshots, 20 * 8192, 100 * 8192);
        report.Dispose();
        Rewrite();
        Assert.InRange(environment.GetStatistics().BytesHeldByReaders, 0, before * 3 / 2);
        Assert.Null(environment.GetStatistics().OldestReader!.Name);

        void Rewrite() => environment.Write(transaction =>
        {
            for (int key = 0; key < 200; key++)
                transaction.GetOrCreateTree("t").Reserve(BitConverter.GetBytes(key), 1000);
            return true;
        });
    }
}
