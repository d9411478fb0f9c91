using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Tests.Encryption;

/// <summary>Rotates the data key while syncs of the data file fail and the power fails.</summary>
public sealed class KeyRotationOnBadDiskTests
{
    private const int Rotations = 3;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void What_is_acknowledged_after_a_rotation_failed_opens_with_the_keys_that_are_durable(bool isForever)
    {
        int failed = 0;
        for (int sync = 0; sync < 16; sync++)
        {
            int number = sync;
            SmallDisk.Repeat(1, seed => failed += Run(new Random(seed), number, isForever));
        }

        Assert.True(failed > 10, $"Of 16 runs, {failed} met the failing sync.");
    }

    /// <summary>Returns 1 if a rotation failed, otherwise 0.</summary>
    private static int Run(Random random, int sync, bool isForever)
    {
        using EncryptionKey key = EncryptionKey.Generate();
        StorageOptions options = SmallDisk.Options with { EncryptionKey = key };
        var disk = new SimulatedDisk(random);
        var acknowledged = new List<int>();
        int failed = 0;
        StorageEnvironment environment = Open(disk, random, options);
        try
        {
            Put(environment, acknowledged);
            disk.Fault = new DiskFault(
                DiskOperation.Sync, disk.CountOfData(DiskOperation.Sync) + sync, isForever, MarksClean: true, OfData: true);
            for (int i = 0; i < Rotations; i++)
            {
                try
                {
                    environment.RotateDataKey(key, null, TestContext.Current.CancellationToken);
                }
                catch (StorageException)
                {
                    failed = 1;
                }

                Put(environment, acknowledged);
            }

            disk.PowerOff();
        }
        finally
        {
            Close(environment);
        }

        disk.Crash();
        disk.Fault = null;
        using StorageEnvironment again = Open(disk, random, options);
        using (ReadTransaction read = again.BeginRead())
            Assert.All(acknowledged, row => Assert.True(read.FindTree("t")!.TryGet(BitConverter.GetBytes(row), out _)));
        Assert.True(again.RotateDataKey(key, null, TestContext.Current.CancellationToken).IsComplete);
        Assert.Empty(again.Check(TestContext.Current.CancellationToken).Problems);
        return failed;
    }

    private static StorageEnvironment Open(SimulatedDisk disk, Random random, StorageOptions options) =>
        StorageEnvironment.Open(new World(disk, TimeProvider.System, random, false), options);

    private static void Put(StorageEnvironment environment, List<int> acknowledged)
    {
        int row = acknowledged.Count;
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(row), new byte[100]));
        acknowledged.Add(row);
    }

    private static void Close(StorageEnvironment environment)
    {
        try
        {
            environment.Dispose();
        }
        catch (StorageException)
        {
            // The power is off.
        }
    }
}
