using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>
/// What an opening finds of an environment without a journal may be in the system's cache only; and after a sync that failed, one
/// that succeeds proves nothing. A checkpoint that returns has made it durable nevertheless.
/// </summary>
public sealed class FoundStateTests
{
    private const int Runs = 20;

    private static readonly StorageOptions _relaxed = SmallDisk.Options with { Durability = Durability.Relaxed };

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_checkpoint_with_nothing_to_write_makes_durable_what_a_killed_process_left(bool hasSyncFailed) =>
        SmallDisk.Repeat(Runs, seed =>
        {
            var disk = new SimulatedDisk(new Random(seed));
            StorageEnvironment killed = Open(disk, _relaxed);
            Put(killed, 1);
            killed.Checkpoint(TestContext.Current.CancellationToken);
            Put(killed, 2);
            if (hasSyncFailed)
                disk.Fault = FailingSync(disk, number: 1);
            else
                OnSync(disk, number: 1, disk.PowerOff);
            Assert.ThrowsAny<Exception>(() => killed.Checkpoint(TestContext.Current.CancellationToken)); // at the meta page
            Kill(disk, killed);
            disk.Resume();

            StorageEnvironment next = Open(disk, _relaxed);
            Assert.Equal(2, Count(next)); // the system's cache has it
            next.Checkpoint(TestContext.Current.CancellationToken);
            Kill(disk, next);
            disk.Crash();

            using StorageEnvironment last = Open(disk, _relaxed);
            Assert.Equal(2, Count(last));
            Assert.Empty(last.Check(TestContext.Current.CancellationToken).Problems);
        });

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Pages_whose_sync_failed_are_in_no_checkpoint_until_they_are_written_again(bool isTriedAgain) =>
        SmallDisk.Repeat(Runs, seed =>
        {
            var disk = new SimulatedDisk(new Random(seed));
            StorageEnvironment environment = Open(disk, SmallDisk.Options);
            Put(environment, 1);
            environment.Checkpoint(TestContext.Current.CancellationToken);
            Put(environment, 2);
            disk.Fault = FailingSync(disk, number: 0);
            Assert.Throws<StorageException>(() => environment.Checkpoint(TestContext.Current.CancellationToken));
            if (isTriedAgain)
                environment.Checkpoint(TestContext.Current.CancellationToken);
            Kill(disk, environment);
            disk.Crash();

            using StorageEnvironment again = Open(disk, SmallDisk.Options);
            Assert.Equal(2, Count(again));
            Assert.Empty(again.Check(TestContext.Current.CancellationToken).Problems);
        });

    private static StorageEnvironment Open(SimulatedDisk disk, StorageOptions options) =>
        StorageEnvironment.Open(new World(disk, new SimulatedClock(), new Random(1), IsBackgroundAllowed: false), options);

    private static void Put(StorageEnvironment environment, int row) => environment.Write(
        transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(row), new byte[700]));

    private static long Count(StorageEnvironment environment)
    {
        using ReadTransaction read = environment.BeginRead();
        return read.FindTree("t")!.Count;
    }

    /// <summary>A sync of the data file, counted from now on, that fails once and leaves what was dirty as if written.</summary>
    private static DiskFault FailingSync(SimulatedDisk disk, int number) =>
        new(DiskOperation.Sync, disk.CountOfData(DiskOperation.Sync) + number, IsForever: false, MarksClean: true, OfData: true);

    /// <summary>Does something at a sync of the data file, counted from now on.</summary>
    private static void OnSync(SimulatedDisk disk, int number, Action action) => disk.Acting = (kind, name) =>
    {
        if (kind != DiskOperation.Sync || name != FormatLimits.DataFileName || number-- > 0)
            return;

        disk.Acting = null;
        action();
    };

    private static void Kill(SimulatedDisk disk, StorageEnvironment environment)
    {
        disk.PowerOff();
        environment.Dispose();
    }
}
