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

    /// <summary>
    /// Regression test: writing zeros over zeros can leave garbage. If that damaged a meta page, the next write to the same
    /// position could repair just that damage and otherwise be lost. The old meta page was then valid again, after the pages it
    /// refers to had been overwritten.
    /// </summary>
    [Theory]
    [InlineData(Durability.Durable)]
    [InlineData(Durability.Relaxed)]
    public void A_meta_page_that_a_crash_damaged_behind_its_record_counts_at_once_and_not_later(Durability durability)
    {
        StorageOptions options = BuiltStore.Options with { Durability = durability };
        var random = new Random(Seed.Next());
        var damaged = new HashSet<long>();

        DiskImage first = CrashInMetaPage(DiskImage.Empty, static environment =>
        {
            Put(environment, "first");
            environment.Checkpoint();
            Put(environment, "second");
        }, loss =>
        {
            CrashOutcome outcome = loss.All();
            foreach (int dimension in Behind(loss))
            {
                damaged.Add(loss.Sector(dimension).Number);
                outcome = outcome.With(dimension, CrashOutcome.Damage(random));
            }

            return outcome;
        });
        Assert.NotEmpty(damaged);

        DiskImage second = CrashInMetaPage(first, static environment => Put(environment, "third"), loss =>
        {
            CrashOutcome outcome = loss.None();
            for (int dimension = 0; dimension < loss.Sectors; dimension++)
                if (damaged.Contains(loss.Sector(dimension).Number))
                    outcome = outcome.With(dimension, loss.Options[dimension] - 1);
            return outcome;
        });

        using StorageEnvironment last = BuiltStore.Open(new SimulatedDisk(random, second), random, options);
        using ReadTransaction read = last.BeginRead();
        Assert.Equal(durability == Durability.Durable ? "third" : "second", ReadValue(read));
        Assert.True(last.Check(TestContext.Current.CancellationToken).IsClean);

        // Sectors of the page that contain nothing of the record.
        static IEnumerable<int> Behind(PowerLoss loss) =>
            Enumerable.Range(0, loss.Sectors)
                .Where(dimension => loss.Sector(dimension).Number % (HalfBytes / PendingWrite.SectorBytes) != 0);

        DiskImage CrashInMetaPage(DiskImage start, Action<StorageEnvironment> work, Func<PowerLoss, CrashOutcome> choose)
        {
            var disk = new SimulatedDisk(random, start);
            DiskImage? left = null;
            using StorageEnvironment environment = BuiltStore.Open(disk, random, options);
            work(environment);
            disk.Acting = (kind, name) =>
            {
                if (kind != DiskOperation.Sync || name != BuiltStore.DataFile || !IsMetaPageOnly(disk))
                    return;

                left = choose(new PowerLoss(disk)).Build();
                disk.PowerOff();
            };
            Assert.ThrowsAny<Exception>(() => environment.Checkpoint());
            disk.Acting = null;
            return left!; // the checkpoint only fails there
        }

        static bool IsMetaPageOnly(SimulatedDisk disk)
        {
            var loss = new PowerLoss(disk);
            return loss.Sectors == BuiltStore.PageBytes / PendingWrite.SectorBytes
                && loss.Sector(0).Number < 2 * BuiltStore.PageBytes / PendingWrite.SectorBytes;
        }
    }

    private static void Put(StorageEnvironment environment, string value) =>
        environment.Write(
            transaction => transaction.GetOrCreateTree("tree").Put("key"u8, System.Text.Encoding.UTF8.GetBytes(value)));

    private static string ReadValue(ReadTransaction read)
    {
        Assert.True(read.FindTree("tree")!.TryGet("key"u8, out ReadOnlySpan<byte> value)); // written before
        return System.Text.Encoding.UTF8.GetString(value);
    }
}
