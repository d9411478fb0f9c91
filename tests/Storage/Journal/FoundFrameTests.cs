using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Journal;

/// <summary>
/// A frame that a killed process left may be readable and not durable: its sync failed, and the system counts it as written
/// since, so that a second sync writes nothing and succeeds. It must be written again before anything is acknowledged that
/// follows it.
/// </summary>
public sealed class FoundFrameTests
{
    private const int Runs = 20;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void What_follows_a_frame_whose_sync_failed_is_there_after_a_loss_of_power(bool isEncrypted) =>
        SmallDisk.Repeat(Runs, seed => Run(new Random(seed), isEncrypted));

    private static void Run(Random random, bool isEncrypted)
    {
        using EncryptionKey? key = isEncrypted ? EncryptionKey.Generate() : null;
        StorageOptions options = SmallDisk.Options with { EncryptionKey = key };
        var disk = new SimulatedDisk(random);
        StorageEnvironment first = Open(disk, random, options);
        Put(first, 1);
        disk.Fault = new DiskFault(
            DiskOperation.Sync, disk.Count(DiskOperation.Sync) - disk.CountOfData(DiskOperation.Sync), IsForever: false,
            MarksClean: true, OfData: false);
        Assert.Throws<CommitOutcomeUnknownException>(() => Put(first, 2));
        Kill(disk, first);
        disk.Resume();

        StorageEnvironment second = Open(disk, random, options);
        using (ReadTransaction read = second.BeginRead())
            Assert.Equal(2, read.FindTree("t")!.Count); // the system's cache has the frame
        Put(second, 3);
        Kill(disk, second);
        disk.Crash();

        using StorageEnvironment third = Open(disk, random, options);
        using (ReadTransaction read = third.BeginRead())
            Assert.Equal(3, read.FindTree("t")!.Count);
        Assert.Empty(third.Check(TestContext.Current.CancellationToken).Problems);
    }

    private static StorageEnvironment Open(SimulatedDisk disk, Random random, StorageOptions options) =>
        StorageEnvironment.Open(new World(disk, TimeProvider.System, random, false), options);

    private static void Put(StorageEnvironment environment, int row) => environment.Write(
        transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(row), new byte[700]));

    private static void Kill(SimulatedDisk disk, StorageEnvironment environment)
    {
        disk.PowerOff();
        try
        {
            environment.Dispose();
        }
        catch (StorageException)
        {
            // It writes nothing any more.
        }
    }
}
