using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Tests.Snapshots;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.FreeSpace;

/// <summary>Free pages are known twice: from the bitmap, and from what is reachable from the roots.</summary>
public sealed class DamagedBitmapTests
{
    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public void A_damaged_bitmap_is_worked_out_again(bool hasSnapshots, bool hasJournal)
    {
        var random = new Random(Seed.Next());
        var disk = new SimulatedDisk(random);
        var workload = new Workload(random, new WorkloadShape { Keys = 300, MaxValueBytes = 20_000 });
        var model = new SnapshotModel();
        using (StorageEnvironment environment = Open(disk, random))
        {
            for (int i = 0; i < 40; i++)
            {
                if (hasSnapshots)
                    environment.Write(SnapshotModel.Next(random, workload, model));
                else
                    environment.Write(workload.Next(model.State));
                if (i == 30)
                    environment.Checkpoint();
            }

            if (hasJournal)
                disk.CrashAt = disk.Operations; // so that closing writes no checkpoint
        }

        disk.Crash();
        Damage(disk);
        using (StorageEnvironment environment = Open(disk, random))
        {
            Assert.True(model.IsEqual(environment));
            for (int i = 0; i < 30; i++)
                environment.Write(SnapshotModel.Next(random, workload, model));
            environment.Checkpoint();
            Assert.Equal(1, environment.State.Bitmaps.RebuiltPages);
            Assert.Empty(environment.Check().Problems);
        }

        using StorageEnvironment again = Open(disk, random);
        Assert.True(model.IsEqual(again));
        Assert.Empty(again.Check().Problems);
        Assert.Equal(0, again.State.Bitmaps.RebuiltPages);
    }

    [Fact]
    public void Where_other_pages_are_damaged_too_writing_is_refused_and_reading_goes_on()
    {
        var random = new Random(7);
        var disk = new SimulatedDisk(random);
        using (StorageEnvironment environment = Open(disk, random))
        {
            environment.Write(transaction => transaction.GetOrCreateTree("a").Put("k"u8, "v"u8));
            environment.Write(transaction => transaction.GetOrCreateTree("b").Put("k"u8, new byte[100]));
        }

        Damage(disk);
        long leaf;
        using (StorageEnvironment environment = Open(disk, random))
        using (ReadTransaction read = environment.BeginRead())
            leaf = read.FindTree("b")!.Record.Root.Number;
        disk.Bytes(FormatLimits.DataFileName)[(leaf * PageLayout.SizeBytes) + 5000] ^= 1;

        using StorageEnvironment damaged = Open(disk, random);
        CorruptionException error = Assert.Throws<CorruptionException>(
            () => damaged.Write(transaction => transaction.FindTree("a")!.Put("k"u8, "w"u8)));
        Assert.Contains("bitmap", error.Message, StringComparison.OrdinalIgnoreCase);
        using ReadTransaction still = damaged.BeginRead();
        Assert.True(still.FindTree("a")!.Contains("k"u8));
    }

    /// <summary>
    /// A group that is neither loaded nor can be worked out again must fail each checkpoint, and not only the first two: one
    /// that left it out would put the bitmap of two checkpoints ago into force. Which groups the command itself needs depends on
    /// where its pages lie, so all are tried.
    /// </summary>
    [Fact]
    public void No_checkpoint_leaves_out_a_group_that_can_neither_be_read_nor_worked_out()
    {
        int seed = Seed.Next();
        Assert.Contains(Enumerable.Range(1, 5), group => IsWrittenAndNeverCheckpointed(seed, group));
    }

    /// <summary>
    /// A checkpoint that fails before it has chosen where to write gives nothing up of the one before, which succeeded: neither
    /// of its two bitmaps, whose pages would be given out.
    /// </summary>
    [Fact]
    public void A_checkpoint_that_fails_at_its_beginning_leaves_the_bitmaps_of_the_one_before_in_force()
    {
        var random = new Random(7);
        var disk = new SimulatedDisk(random);
        long leaf;
        using (StorageEnvironment environment = OpenInGroups(disk, random))
        {
            Put(environment, "low", 0, 200);
            Put(environment, "other", 0, 1);
            foreach ((int from, int count) in new[] { (0, 250), (250, 150) })
            {
                Put(environment, "middle", from, count);
                environment.Checkpoint();
                Put(environment, "low", 0, 1);
                environment.Checkpoint(); // both bitmaps have grown, the second time to twice the size, and grow no more
            }

            Put(environment, "end", 0, 150);
            for (int i = 0; i < 3; i++)
            {
                Put(environment, "low", 0, 1); // the catalogue leaves the end of the file
                environment.Checkpoint();
            }

            Delete(environment, "low", 1, 180);
            environment.Checkpoint();
            using ReadTransaction read = environment.BeginRead();
            leaf = read.FindTree("other")!.Record.Root.Number;
        }

        using StorageEnvironment open = OpenInGroups(disk, random, scratchBudgetBytes: 1 << 20);
        for (int i = 0; i < 4; i++) // until the pages at the end are all of one tree
        {
            Put(open, "low", 0, 1);
            open.Checkpoint();
        }

        int last = (int)((open.State.Space.PageCount - 1) / 64), own = (int)(open.State.Space.PageCount - (last * 64L));
        Delete(open, "end", 150 - own, own); // the pages of the last group
        open.Checkpoint();
        Assert.False(open.State.Space.IsLoaded(last - 1));
        MetaPage durable = open.State.Durable;
        Flip();
        Put(open, "low", 1, 140); // so much that a checkpoint runs, which takes the last group off, and looks at the one before
        Assert.Equal(1, open.GetStatistics().CheckpointFailures);
        Assert.Equal(durable, open.State.Durable);

        Flip();
        for (int i = 0; i < 3; i++)
        {
            Put(open, "low", i, 2);
            open.Checkpoint();
        }

        Assert.Empty(open.Check().Problems);

        void Flip()
        {
            byte[] bytes = disk.Bytes(FormatLimits.DataFileName);
            bytes[((durable.Bitmap.First + last - 1) * PageLayout.SizeBytes) + PageLayout.HeaderBytes + 3] ^= 0x10;
            bytes[(leaf * PageLayout.SizeBytes) + 5000] ^= 1;
        }
    }

    private static void Put(StorageEnvironment environment, string tree, int from, int count) => environment.Write(transaction =>
    {
        for (int i = from; i < from + count; i++)
            transaction.GetOrCreateTree(tree).Put(Key(i), new byte[7000]);
        return 0;
    });

    private static void Delete(StorageEnvironment environment, string tree, int from, int count) => environment.Write(
        transaction =>
        {
            for (int i = from; i < from + count; i++)
                transaction.FindTree(tree)!.Delete(Key(i));
            return 0;
        });

    private static byte[] Key(int number) => [(byte)(number >> 8), (byte)number];

    /// <summary>Returns whether the command could be run.</summary>
    private static bool IsWrittenAndNeverCheckpointed(int seed, int group)
    {
        var random = new Random(seed);
        var disk = new SimulatedDisk(random);
        long leaf;
        using (StorageEnvironment environment = OpenInGroups(disk, random))
        {
            for (int i = 0; i < 400; i++)
                environment.Write(transaction => transaction.GetOrCreateTree("a").Put(BitConverter.GetBytes(i), new byte[5000]));
            environment.Write(transaction => transaction.GetOrCreateTree("b").Put("k"u8, new byte[100]));
            environment.Checkpoint();
            environment.Write(transaction => transaction.GetOrCreateTree("c").Put("k"u8, new byte[100]));
            using ReadTransaction read = environment.BeginRead();
            leaf = read.FindTree("b")!.Record.Root.Number;
        }

        Damage(disk, group);
        disk.Bytes(FormatLimits.DataFileName)[(leaf * PageLayout.SizeBytes) + 5000] ^= 1;
        using StorageEnvironment damaged = OpenInGroups(disk, random);
        try
        {
            damaged.Write(transaction => transaction.FindTree("c")!.Put("k"u8, new byte[90]));
        }
        catch (CorruptionException)
        {
            return false; // it needed the group
        }

        for (int i = 0; i < 4; i++)
        {
            long before = damaged.GetStatistics().Checkpoints;
            Assert.ThrowsAny<StorageException>(() => damaged.Checkpoint());
            Assert.Equal(before, damaged.GetStatistics().Checkpoints);
        }

        return true;
    }

    private static void Damage(SimulatedDisk disk, int group = 0)
    {
        byte[] bytes = disk.Bytes(FormatLimits.DataFileName);
        using IFile file = disk.Open(FormatLimits.DataFileName, create: false, writable: false);
        long bitmap = DataFile.ReadMeta(disk, file).Bitmap.First + group;
        bytes = disk.Bytes(FormatLimits.DataFileName);
        bytes[(bitmap * PageLayout.SizeBytes) + PageLayout.HeaderBytes + 3] ^= 0x10;
    }

    private static StorageEnvironment OpenInGroups(
        SimulatedDisk disk, Random random, long scratchBudgetBytes = 4 << 20) => StorageEnvironment.Open(
        new World(disk, TimeProvider.System, random, false) { PagesPerBitmap = 64 },
        SmallDisk.Options with
        {
            ScratchBudgetBytes = scratchBudgetBytes,
            MaxJournalFileBytes = 1 << 20,
            MaxJournalBytes = 8 << 20
        });

    private static StorageEnvironment Open(SimulatedDisk disk, Random random) =>
        StorageEnvironment.Open(new World(disk, TimeProvider.System, random, false), SmallDisk.Options);
}
