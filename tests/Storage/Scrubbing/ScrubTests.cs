using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Tests.Checks;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Scrubbing;

/// <summary>
/// Pages that change on the disk after they were verified. The scrub reads them again, and later readers get an error that
/// names file and page.
/// </summary>
public sealed class ScrubTests
{
    private const int Keys = 300;

    [Theory]
    [InlineData(false, 300)]
    [InlineData(false, 20_000)]
    [InlineData(true, 300)]
    [InlineData(true, 20_000)]
    public void Bytes_changed_on_the_disk_after_they_were_read_are_an_error_from_the_next_scrub_on(
        bool isEncrypted, int valueBytes)
    {
        using var directory = new TemporaryDirectory();
        using EncryptionKey? key = isEncrypted ? EncryptionKey.Generate() : null;
        var options = new StorageOptions
        {
            EncryptionKey = key,
            ScrubBytesPerSecond = 0,
            DecryptedIdleTime = TimeSpan.FromDays(1)
        };
        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path, options);
        Fill(environment, valueBytes);
        environment.Checkpoint(TestContext.Current.CancellationToken);
        Scrubber scrubber = environment.State.Scrubber!;
        scrubber.RunPass(TestContext.Current.CancellationToken);
        Assert.Equal(0, environment.GetStatistics().Scrub!.DamagedPageCount);
        Assert.Equal((Keys, 0), Read(environment, valueBytes)); // everything is verified now

        string file = Path.Combine(directory.Path, FormatLimits.DataFileName);
        SortedDictionary<long, long> places = PlacesInValues(File.ReadAllBytes(file), environment, valueBytes);
        using (var other = new FileStream(file, FileMode.Open, FileAccess.ReadWrite, FileShare.ReadWrite | FileShare.Delete))
        {
            foreach (long at in places.Values)
            {
                other.Position = at;
                int before = other.ReadByte();
                other.Position = at;
                other.WriteByte((byte)~before);
            }
        }

        long[] changed = [.. places.Keys];
        (int right, int refused) = Read(environment, valueBytes);
        Assert.Equal(0, refused); // shows the problem: pages are not verified again
        scrubber.RunPass(TestContext.Current.CancellationToken);
        ScrubStatistics found = environment.GetStatistics().Scrub!;
        Assert.Equal(changed.Length, found.DamagedPageCount);
        Assert.Equal(changed, found.DamagedPages);
        Assert.Contains($"of '{file}' is damaged", found.LastDamage, StringComparison.Ordinal);
        (right, refused) = Read(environment, valueBytes);
        Assert.True(refused > 0 && right > 0 && right + refused == Keys, $"{right} right, {refused} refused.");

        CheckReport report = environment.Check(TestContext.Current.CancellationToken);
        Assert.All(changed, page => Assert.Contains(report.Problems, problem => problem.Page == page));
        environment.Write(transaction => transaction.GetOrCreateTree("other").Put("k"u8, "v"u8)); // still writable
    }

    [Fact]
    public void A_page_that_is_right_in_memory_and_wrong_on_the_disk_is_refused_until_the_disk_has_it_right()
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly: true, commits: 40);
        SimulatedDisk disk = store.Disk.Copy(random);
        disk.MapsSeeWrites = true;
        using StorageEnvironment environment = BuiltStore.Open(disk, random);
        Assert.Equal(0, CountRefused(environment, store.Last));
        Scrubber scrubber = environment.State.Scrubber!;
        byte[] bytes = disk.Bytes(FormatLimits.DataFileName);
        long page = environment.State.Current.Catalogue.Root.Number;
        bytes[(page * BuiltStore.PageBytes) + 5000] ^= 4;
        scrubber.RunPass(TestContext.Current.CancellationToken);
        Assert.Equal([page], environment.GetStatistics().Scrub!.DamagedPages);
        using (ReadTransaction read = environment.BeginRead())
            Assert.Contains(
                $"Page {page} of ", Assert.Throws<CorruptionException>(() => read.FindTree("nothing")).Message,
                StringComparison.Ordinal);

        bytes[(page * BuiltStore.PageBytes) + 5000] ^= 4;
        scrubber.RunPass(TestContext.Current.CancellationToken);
        Assert.Equal(0, environment.GetStatistics().Scrub!.DamagedPageCount);
        Assert.Equal(0, CountRefused(environment, store.Last));
        Assert.Empty(environment.Check(TestContext.Current.CancellationToken).Problems);
    }

    [Fact]
    public void A_disk_that_cannot_read_pages_is_told_by_the_scrub_and_the_pages_are_refused()
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly: true, commits: 40);
        SimulatedDisk disk = store.Disk.Copy(random);
        using StorageEnvironment environment = BuiltStore.Open(disk, random);
        Assert.Equal(0, CountRefused(environment, store.Last));
        disk.Acting = (kind, name) =>
        {
            if (kind == DiskOperation.Read && name == FormatLimits.DataFileName)
                throw new StorageException("The disk has bad sectors.");
        };
        environment.State.Scrubber!.RunPass(TestContext.Current.CancellationToken);
        disk.Acting = null;
        ScrubStatistics found = environment.GetStatistics().Scrub!;
        Assert.True(found.DamagedPageCount > 10, $"{found.DamagedPageCount} pages are refused.");
        Assert.Contains("bad sectors", found.LastDamage, StringComparison.Ordinal);
        using (ReadTransaction read = environment.BeginRead())
            Assert.Throws<CorruptionException>(() => read.FindTree("nothing"));
        environment.State.Scrubber.RunPass(TestContext.Current.CancellationToken);
        Assert.Equal(0, environment.GetStatistics().Scrub!.DamagedPageCount);
        Assert.Equal(0, CountRefused(environment, store.Last));
    }

    [Fact]
    public void A_damaged_page_that_is_used_for_something_else_is_damaged_no_more()
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly: true, commits: 20);
        SimulatedDisk disk = store.Disk.Copy(random);
        using StorageEnvironment environment = BuiltStore.Open(disk, random);
        environment.Write(transaction => transaction.GetOrCreateTree("own").Put("k"u8, new byte[1000]));
        environment.Checkpoint(TestContext.Current.CancellationToken);
        long page = -1;
        using (ReadTransaction read = environment.BeginRead())
            page = read.FindTree("own")!.Record.Root.Number;
        disk.Bytes(FormatLimits.DataFileName)[(page * BuiltStore.PageBytes) + 100] ^= 1;
        environment.State.Scrubber!.RunPass(TestContext.Current.CancellationToken);
        Assert.Equal([page], environment.GetStatistics().Scrub!.DamagedPages);
        environment.State.Store.Forget(page); // as when the last reader ends
        Assert.Equal(0, environment.GetStatistics().Scrub!.DamagedPageCount);
    }

    [Fact]
    public void What_the_disk_still_has_under_a_value_in_scratch_is_not_damage()
    {
        var random = new Random(Seed.Next());
        using StorageEnvironment environment = BuiltStore.Open(new SimulatedDisk(random), random);
        int inside = 0;
        for (int i = 0; i < 400; i++)
        {
            byte[] noise = new byte[random.Next(2) == 0 ? 5_000 : 40_000];
            random.NextBytes(noise);
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put([(byte)random.Next(8)], noise));
            if (random.Next(4) == 0)
                environment.Checkpoint(TestContext.Current.CancellationToken);

            // A pass may begin at any page: assume one ended here, and the value was written before the next one.
            for (long page = FormatLimits.FirstDataPage; page < environment.State.Store.FilePages; page++)
            {
                environment.State.Scrubber!.Judge(page);
                if (environment.State.Store.FrameOf(page) is uint frame and not 0)
                    inside += environment.State.Store.Scratch.Record(frame).Pages - 1;
            }
        }

        Assert.Null(environment.GetStatistics().Scrub!.LastDamage);
        Assert.True(inside > 10, $"{inside} pages are inside of values in scratch");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Nothing_is_found_in_a_sound_store_whatever_is_written_between_two_windows(bool isEncrypted)
    {
        using EncryptionKey? key = isEncrypted ? EncryptionKey.Generate() : null;
        SmallDisk.Repeat(10, seed =>
        {
            var random = new Random(seed);
            var disk = new SimulatedDisk(random) { MapsSeeWrites = random.Next(2) == 0 };
            var workload = new Workload(
                random,
                new WorkloadShape { Keys = 400, MaxSteps = 60, MaxValueBytes = 60_000, DropPerMille = 20, DeletePerMille = 300 });
            var model = new Model();
            using StorageEnvironment environment = BuiltStore.Open(disk, random, BuiltStore.Options with { EncryptionKey = key });
            for (int i = 0; i < 120; i++)
            {
                environment.Write(workload.Next(model));
                if (random.Next(4) == 0)
                    environment.Checkpoint(TestContext.Current.CancellationToken);
                for (int steps = random.Next(4); steps > 0; steps--)
                    environment.State.Scrubber!.Step(TestContext.Current.CancellationToken);
                Assert.Null(environment.GetStatistics().Scrub!.LastDamage);
            }

            environment.State.Scrubber!.RunPass(TestContext.Current.CancellationToken);
            Assert.Null(environment.GetStatistics().Scrub!.LastDamage);
            Assert.True(environment.GetStatistics().Scrub!.BytesVerified > 1 << 20);
        });
    }

    [Fact]
    public void Nothing_is_found_in_a_sound_store_while_threads_write_and_checkpoint()
    {
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(
            directory.Path, new StorageOptions { ScratchBudgetBytes = 2 << 20, ScrubBytesPerSecond = 0 });
        Fill(environment, 5000);
        bool isOver = false;
        var writer = new Thread(() =>
        {
            var random = new Random(1);
            for (int i = 0; i < 150; i++)
            {
                environment.Write(transaction =>
                {
                    Tree tree = transaction.GetOrCreateTree("t");
                    for (int n = 0; n < 20; n++)
                        tree.Put(BitConverter.GetBytes(random.Next(Keys)), new byte[random.Next(40_000)]);
                    return true;
                });
                if (i % 10 == 0)
                    environment.Checkpoint();
            }

            Volatile.Write(ref isOver, true);
        });
        writer.Start();
        while (!Volatile.Read(ref isOver))
            environment.State.Scrubber!.RunPass(TestContext.Current.CancellationToken);
        writer.Join();
        Assert.Null(environment.GetStatistics().Scrub!.LastDamage);
        Assert.Empty(environment.Check(TestContext.Current.CancellationToken).Problems);
    }

    [Fact]
    public void The_scrub_runs_by_itself_at_its_rate_and_ends_with_the_environment()
    {
        const long Rate = 2 << 20;
        var random = new Random(3);
        BuiltStore store = BuiltStore.Build(random, closesCleanly: true, commits: 60);
        SimulatedDisk disk = store.Disk.Copy(random);
        var clock = new SimulatedClock();
        var world = new World(disk, clock, random, true) { Scheduler = new ImmediateScheduler() };
        StorageEnvironment environment = StorageEnvironment.Open(
            world, BuiltStore.Options with { ScrubBytesPerSecond = Rate, ScrubInterval = TimeSpan.FromHours(1) });
        long most = 0;
        for (int second = 0; second < 2 * 3600; second++)
        {
            long before = environment.GetStatistics().Scrub!.BytesVerified;
            clock.Advance(TimeSpan.FromSeconds(1));
            most = Math.Max(most, environment.GetStatistics().Scrub!.BytesVerified - before);
        }

        ScrubStatistics scrub = environment.GetStatistics().Scrub!;
        Assert.InRange(scrub.Passes, 1, 2); // one per hour, the first at a random time in the first hour
        Assert.InRange(most, 1, Rate + (1 << 20)); // the rate plus one window
        disk.Bytes(FormatLimits.DataFileName)[(environment.State.Current.Catalogue.Root.Number * BuiltStore.PageBytes) + 200] ^=
            1;
        clock.Advance(TimeSpan.FromHours(1));
        Assert.Equal(1, environment.GetStatistics().Scrub!.DamagedPageCount);
        environment.Dispose();
        int reads = disk.Count(DiskOperation.Read);
        clock.Advance(TimeSpan.FromDays(2));
        Assert.Equal(reads, disk.Count(DiskOperation.Read));
    }

    [Fact]
    public void A_cancelled_pass_ends_and_a_read_only_environment_has_no_scrub()
    {
        var random = new Random(4);
        BuiltStore store = BuiltStore.Build(random, closesCleanly: true, commits: 10);
        using (StorageEnvironment environment = BuiltStore.Open(store.Disk, random))
        {
            Assert.Throws<OperationCanceledException>(
                () => environment.State.Scrubber!.RunPass(new CancellationToken(canceled: true)));
            Assert.Equal(0, environment.GetStatistics().Scrub!.BytesVerified);
        }

        using StorageEnvironment readOnly = BuiltStore.Open(store.Disk, random, BuiltStore.Options with { ReadOnly = true });
        Assert.Null(readOnly.GetStatistics().Scrub);
    }

    [Theory]
    [InlineData(300)]
    [InlineData(20_000)]
    public void A_page_that_was_put_out_of_memory_is_proven_again_by_its_next_reader(int valueBytes)
    {
        var random = new Random(Seed.Next());
        var disk = new SimulatedDisk(random) { MapsSeeWrites = true };
        using StorageEnvironment environment = BuiltStore.Open(disk, random);
        Fill(environment, valueBytes);
        environment.Checkpoint(TestContext.Current.CancellationToken);
        Assert.Equal((Keys, 0), Read(environment, valueBytes));
        byte[] bytes = disk.Bytes(FormatLimits.DataFileName);
        foreach (long at in PlacesInValues(bytes, environment, valueBytes).Values)
            bytes[at] = (byte)~bytes[at];
        disk.EvictMaps();
        (int right, int refused) = Read(environment, valueBytes);
        Assert.True(refused == 0 && right < Keys, $"{right} right, {refused} refused"); // shows the problem

        environment.State.Store.Proofs.WithdrawEvicted(environment.State.Store.FilePages);
        Assert.True(environment.GetStatistics().Scrub!.ProofsWithdrawn > 0);
        (right, refused) = Read(environment, valueBytes, mayBeWrong: false);
        Assert.True(refused > 0, $"{right} right, {refused} refused");
    }

    [Fact]
    public void On_the_real_disk_pages_in_memory_keep_their_proof()
    {
        Requirement.Needs(
            OperatingSystem.IsLinux(), "A system that tells which pages are in memory (Linux)",
            "Elsewhere proofs stay until the environment closes.");
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path);
        Fill(environment, 300);
        environment.Checkpoint(TestContext.Current.CancellationToken);
        Assert.Equal((Keys, 0), Read(environment, 300));
        Assert.True(environment.State.Store.Proofs.TellsEvicted);
        long root = environment.State.Current.Catalogue.Root.Number;
        environment.State.Store.Proofs.WithdrawEvicted(environment.State.Store.FilePages);
        Assert.Equal((Keys, 0), Read(environment, 300));
        using (ReadTransaction read = environment.BeginRead())
            Assert.NotEmpty(read.TreeNames); // reads the catalogue, which is not needed for a tree that was found before
        environment.State.Scrubber!.RunPass(TestContext.Current.CancellationToken);
        Assert.Equal(0, environment.GetStatistics().Scrub!.DamagedPageCount);
        Assert.False(environment.State.Store.IsUnseen(root));
    }

    /// <summary>
    /// Positions of bytes in values, on some of the pages, where a change affects nothing but the value; by the page that a
    /// scrub must report.
    /// </summary>
    private static SortedDictionary<long, long> PlacesInValues(byte[] file, StorageEnvironment environment, int valueBytes)
    {
        var places = new SortedDictionary<long, long>();
        ulong[] live = environment.State.Space.CopyLive();
        int heads = 0;
        for (long page = FormatLimits.FirstDataPage; page < environment.State.Space.PageCount; page++)
        {
            bool isLive = (live[page / 64] & (1UL << (int)(page % 64))) != 0;
            var head = new Page(file.AsSpan((int)page * PageLayout.SizeBytes, PageLayout.SizeBytes));
            bool isValue = valueBytes > FormatLimits.MaxInlineValueBytes
                ? head.Type == PageType.Overflow
                : head.Type == PageType.Leaf && head.TreeId > 2 && head.Count > 3;
            if (isLive && head.Number == page && isValue && ++heads % 3 == 0)
                places.Add(page, ((page + 1) * PageLayout.SizeBytes) - 200);
        }

        Assert.NotEmpty(places);
        return places;
    }

    private static void Fill(StorageEnvironment environment, int valueBytes) => environment.Write(transaction =>
    {
        for (int key = 0; key < Keys; key++)
            transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(key), new byte[valueBytes]);
        return true;
    });

    private static (int Right, int Refused) Read(StorageEnvironment environment, int valueBytes, bool mayBeWrong = true)
    {
        int right = 0, refused = 0;
        using ReadTransaction read = environment.BeginRead();
        for (int key = 0; key < Keys; key++)
        {
            try
            {
                bool isRight = read.FindTree("t")!.TryGet(BitConverter.GetBytes(key), out ReadOnlySpan<byte> value)
                    && value.Length == valueBytes
                    && value.IndexOfAnyExcept((byte)0) < 0;
                Assert.True(isRight || mayBeWrong, $"Key {key} has other bytes, and nobody notices.");
                right += isRight ? 1 : 0;
            }
            catch (CorruptionException)
            {
                refused++;
            }
        }

        return (right, refused);
    }

    private static int CountRefused(StorageEnvironment environment, Model expected)
    {
        int refused = 0;
        using ReadTransaction read = environment.BeginRead();
        foreach ((string name, SortedDictionary<byte[], byte[]> entries) in expected.Trees)
        {
            foreach ((byte[] key, byte[] value) in entries)
            {
                try
                {
                    Assert.True(read.FindTree(name)!.TryGet(key, out ReadOnlySpan<byte> found) && found.SequenceEqual(value));
                }
                catch (CorruptionException)
                {
                    refused++;
                }
            }
        }

        return refused;
    }

    /// <summary>Runs work immediately, on the thread that queues it.</summary>
    private sealed class ImmediateScheduler : IScheduler
    {
        public void Queue(Action work) => work();

        public void Wait(object monitor) => throw new InvalidOperationException("Nobody else would pulse.");
    }
}
