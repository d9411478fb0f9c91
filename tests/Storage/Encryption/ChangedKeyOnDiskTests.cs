using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;

namespace Treepie.Storage.Tests.Encryption;

/// <summary>The possible disk contents after a power failure that follows a completed change of keys.</summary>
public sealed class ChangedKeyOnDiskTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void No_file_that_a_loss_of_power_brings_back_has_the_wrapped_keys_from_before(bool isRotated)
    {
        using EncryptionKey first = EncryptionKey.Generate(), second = EncryptionKey.Generate();
        var disk = new SimulatedDisk(new Random(1));
        var world = new World(disk, new SimulatedClock(), new Random(1), IsBackgroundAllowed: false);
        using (StorageEnvironment environment = StorageEnvironment.Open(world, SmallDisk.Options with { EncryptionKey = first }))
        {
            for (int i = 0; i < 200; i++)
                environment.Write(transaction => transaction.GetOrCreateTree("t").Put([(byte)i], new byte[1_000]));

            byte[] before = environment.Cipher!.Block.Sealed.ToArray();
            Assert.Contains(Durable(), file => file.Name != FormatLimits.DataFileName && Holds(file.Bytes, before));
            if (isRotated)
                Assert.True(environment.RotateDataKey(first, null, TestContext.Current.CancellationToken).IsComplete);
            else
                environment.ChangeKey(second, TestContext.Current.CancellationToken);

            Assert.All(Durable(), file => Assert.False(Holds(file.Bytes, before), $"'{file.Name}' has the keys from before."));
            Assert.Empty(disk.NameChanges);
        }

        static bool Holds(byte[] file, byte[] keys) => file.AsSpan().IndexOf(keys) >= 0;

        IEnumerable<(string Name, byte[] Bytes)> Durable()
        {
            var after = new SimulatedDisk(new Random(1), new PowerLoss(disk).None().Build());
            return after.List().Select(name => (name, after.Bytes(name)));
        }
    }
}
