using Treepie.Storage.Files;
using Treepie.Storage.Maps;
using Treepie.Storage.Simulation;
using Treepie.Storage.Tests.Snapshots;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Transactions;

public sealed class ShrinkTests
{
    [Fact]
    public async Task Shrink_gives_back_what_deletes_freed_while_others_write_and_read()
    {
        using var directory = new TemporaryDirectory();
        var progress = new Steps();
        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path);
        Fill(environment, keys: 3000);
        environment.Checkpoint();
        environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree("t");
            TransactionMap<long, string, PrimitiveSerializer<long>, StringSerializer> map =
                transaction.GetOrCreateMap<long, string, PrimitiveSerializer<long>, StringSerializer>("m");
            for (int key = 0; key < 3000; key++)
            {
                if (key % 10 == 0)
                    continue;
                tree.Delete(BitConverter.GetBytes(key));
                map.TryRemove(key, out _);
            }

            return true;
        });

        using var stop = new CancellationTokenSource();
        int written = 0;
        Task writer = Task.Run(() =>
        {
            for (; !stop.IsCancellationRequested; written++)
                environment.Write(
                    transaction => transaction.GetOrCreateTree("others")
                        .Put(BitConverter.GetBytes(written % 100), new byte[300]));
        });
        long before = environment.GetStatistics().DataFileBytes;
        ShrinkReport report = environment.Shrink(progress);
        await stop.CancelAsync();
        await writer;

        Assert.Equal(before, report.BytesBefore);
        Assert.True(report.BytesAfter < before / 3, $"{before} → {report.BytesAfter}, {report.FreeBytes} free");
        Assert.True(report.MovedPages > 20);
        Assert.Empty(report.HeldBy);
        Assert.NotEmpty(progress.Seen);
        Assert.Equal(
            new FileInfo(Path.Combine(directory.Path, "data.treepie")).Length, environment.GetStatistics().DataFileBytes);
        Assert.Empty(environment.Check().Problems);
        using ReadTransaction read = environment.BeginRead();
        Assert.Equal(300, read.FindTree("t")!.Count);
        for (int key = 0; key < 3000; key += 10)
        {
            Assert.True(read.FindTree("t")!.TryGet(BitConverter.GetBytes(key), out ReadOnlySpan<byte> value));
            Assert.Equal(ValueBytes(key), value.Length);
            Assert.Equal((byte)key, value[^1]);
            Assert.Equal(Text(key), read.FindMap<long, string, PrimitiveSerializer<long>, StringSerializer>("m")![key]);
        }
    }

    [Fact]
    public void Shrink_says_what_readers_and_snapshots_keep_and_goes_on_when_they_are_gone()
    {
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path);
        Fill(environment, keys: 1500);
        environment.CreateSnapshot("kept");
        ReadTransaction reader = environment.BeginRead("the slow report");
        environment.Write(transaction => transaction.DropTree("t"));
        ShrinkReport report = environment.Shrink();
        Assert.Contains(report.HeldBy, reason => reason.Contains("snapshot", StringComparison.Ordinal));
        Assert.Empty(environment.Check().Problems);

        environment.DropSnapshot("kept");
        report = environment.Shrink();
        Assert.Contains(report.HeldBy, reason => reason.Contains("'the slow report'", StringComparison.Ordinal));
        Assert.Equal(1500, reader.FindTree("t")!.Count);

        reader.Dispose();
        report = environment.Shrink();
        Assert.Empty(report.HeldBy);
        Assert.True(report.BytesAfter < 3 << 20, $"{report.BytesAfter}");
        Assert.Empty(environment.Check().Problems);
    }

    [Fact]
    public void A_bitmap_that_moves_to_the_end_of_the_file_covers_the_pages_that_it_takes_there()
    {
        var disk = new SimulatedDisk(new Random(1));
        using StorageEnvironment environment = StorageEnvironment.Open(
            new World(disk, new SimulatedClock(), new Random(1), IsBackgroundAllowed: false) { PagesPerBitmap = 64 },
            SmallDisk.Options);
        for (int key = 0; key < 400; key++)
        {
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(key), new byte[30_000]));
            environment.Checkpoints.RunToShrink(0, CancellationToken.None); // because both bitmaps are too far out
            int covered = environment.State.Durable.Bitmap.Pages * environment.State.Space.PagesPerGroup;
            Assert.InRange(environment.State.Durable.PageCount, 0, covered);
        }

        Assert.Empty(environment.Check(TestContext.Current.CancellationToken).Problems);
    }

    [Fact]
    public void A_shrink_cut_off_anywhere_leaves_the_state_as_it_was()
    {
        int seed = Seed.Next();
        for (int run = 0; run < 15; run++)
        {
            var random = new Random(unchecked(seed + run));
            var disk = new SimulatedDisk(random);
            var workload = new Workload(
                random, new WorkloadShape { Keys = 300, MaxSteps = 40, MaxValueBytes = 30_000, DeletePerMille = 600 });
            var model = new SnapshotModel();
            long length = 0;
            using (StorageEnvironment environment = Open(disk, random))
            {
                for (int i = 0; i < 50; i++)
                    environment.Write(run % 2 == 0 ? workload.Next(model.State) : SnapshotModel.Next(random, workload, model));
                environment.Write(transaction => transaction.DropTree("alpha"));
                model.State.Drop("alpha");
            }

            for (int crash = 0; crash < 4; crash++)
            {
                StorageEnvironment environment = Open(disk, random);
                disk.CrashAt = disk.Operations + random.Next(60);
                try
                {
                    environment.Shrink();
                }
                catch (Exception error) when (disk.HasCrashed && error is IOException or StorageException)
                {
                    // The power is off.
                }

                environment.Dispose();
                disk.Crash();
                using StorageEnvironment again = Open(disk, random);
                Assert.True(model.IsEqual(again), $"Run it again with TREEPIE_SEED={unchecked(seed + run)}.");
                Assert.Empty(again.Check().Problems);
            }

            using StorageEnvironment last = Open(disk, random);
            last.Shrink();
            length = last.GetStatistics().DataFileBytes;
            Assert.True(length <= last.State.Space.PageCount * 8192L, $"{length}");
            Assert.True(model.IsEqual(last));
        }
    }

    [Fact]
    public void Closing_gives_back_what_the_file_had_to_grow_into()
    {
        using var directory = new TemporaryDirectory();
        using (StorageEnvironment environment = StorageEnvironment.Open(directory.Path))
        {
            Fill(environment, keys: 1000);
            environment.Checkpoint();
            Assert.True(environment.GetStatistics().DataFileBytes > environment.State.Space.PageCount * 8192);
        }

        using StorageEnvironment again = StorageEnvironment.Open(directory.Path);
        const int Reserved = 40; // for deletes on a full disk
        Assert.InRange(
            again.GetStatistics().DataFileBytes / 8192, again.State.Space.PageCount, again.State.Space.PageCount + Reserved);
        Assert.Empty(again.Check().Problems);
    }

    private static void Fill(StorageEnvironment environment, int keys)
    {
        for (int first = 0; first < keys; first += 500)
        {
            environment.Write(transaction =>
            {
                Tree tree = transaction.GetOrCreateTree("t");
                TransactionMap<long, string, PrimitiveSerializer<long>, StringSerializer> map =
                    transaction.GetOrCreateMap<long, string, PrimitiveSerializer<long>, StringSerializer>("m");
                for (int key = first; key < first + 500; key++)
                {
                    tree.Reserve(BitConverter.GetBytes(key), ValueBytes(key))[^1] = (byte)key;
                    map[key] = Text(key);
                }

                return true;
            });
        }
    }

    private static int ValueBytes(int key) => key % 7 == 0 ? 20_000 : 400;

    private static string Text(int key) => new((char)('a' + (key % 26)), key % 50 == 0 ? 5000 : 60);

    private static StorageEnvironment Open(SimulatedDisk disk, Random random) =>
        StorageEnvironment.Open(new World(disk, TimeProvider.System, random, false), SmallDisk.Options);

    private sealed class Steps : IProgress<ShrinkProgress>
    {
        public List<ShrinkProgress> Seen { get; } = [];

        public void Report(ShrinkProgress value) => Seen.Add(value);
    }
}
