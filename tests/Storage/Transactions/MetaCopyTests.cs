using Treepie.Storage.Simulation;
using Treepie.Storage.Tests.Checks;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Transactions;

public sealed class MetaCopyTests
{
    private const int HalfBytes = BuiltStore.PageBytes / 2;

    [Theory]
    [InlineData(Durability.Durable)]
    [InlineData(Durability.Relaxed)]
    public void A_damaged_copy_in_the_newest_meta_page_costs_nothing_and_the_next_session_mends_it(Durability durability)
    {
        StorageOptions options = BuiltStore.Options with { Durability = durability };
        for (int half = 0; half < 2; half++)
        {
            var random = new Random(Seed.Next());
            var disk = new SimulatedDisk(random);
            using (StorageEnvironment environment = BuiltStore.Open(disk, random, options))
            {
                Put(environment, "first");
                environment.Checkpoint();
                Put(environment, "second");
            }

            byte[] bytes = [.. disk.Bytes(BuiltStore.DataFile)];
            int newest = BitConverter.ToInt64(bytes, 96) > BitConverter.ToInt64(bytes, BuiltStore.PageBytes + 96) ? 0 : 1;
            bytes.AsSpan((newest * BuiltStore.PageBytes) + (half * HalfBytes), HalfBytes).Clear();
            disk.Replace(BuiltStore.DataFile, bytes);
            using (StorageEnvironment environment = BuiltStore.Open(disk, random, options))
            {
                using (ReadTransaction read = environment.BeginRead())
                    Assert.Equal("second", ReadValue(read));
                Put(environment, "third");
            }

            byte[] mended = disk.Bytes(BuiltStore.DataFile);
            for (int slot = 0; slot < 2; slot++)
                Assert.Equal(
                    mended.AsSpan(slot * BuiltStore.PageBytes, HalfBytes),
                    mended.AsSpan((slot * BuiltStore.PageBytes) + HalfBytes, HalfBytes));
        }
    }

    private static void Put(StorageEnvironment environment, string value) =>
        environment.Write(
            transaction => transaction.GetOrCreateTree("tree").Put("key"u8, System.Text.Encoding.UTF8.GetBytes(value)));

    private static string ReadValue(ReadTransaction read)
    {
        Assert.True(read.FindTree("tree")!.TryGet("key"u8, out ReadOnlySpan<byte> value)); // put before
        return System.Text.Encoding.UTF8.GetString(value);
    }
}
