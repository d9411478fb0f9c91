using Treepie.Storage.Checks;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Snapshots;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Checks;

/// <summary>
/// Damages one thing at a time and salvages. Everything outside of the damage must be recovered exactly, everything missing
/// must be reported, and anything that never existed or no longer exists must be counted as doubtful.
/// </summary>
public sealed class SalvageTests
{
    private const int SamplesOfEachKind = 5;
    private const int Branch = 2, Leaf = 3, Overflow = 4, Bitmap = 5;
    private const uint Catalogue = 1;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void An_environment_without_damage_comes_back_whole(bool closesCleanly)
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly);
        SalvageReport report = Run(store, store.Disk, random, out _);
        Assert.Empty(report.Problems);
        Assert.True(report.IsComplete);
        Assert.All(report.Trees, tree => Assert.Equal(tree.ExpectedKeys, tree.Keys));
    }

    [Theory]
    [InlineData(Leaf, true)]
    [InlineData(Leaf, false)]
    [InlineData(Overflow, true)]
    public void A_damaged_page_loses_its_own_keys_and_no_others(int type, bool closesCleanly)
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly);
        int hits = 0;
        foreach (long page in Sample(store, random, page => page.Type == type && page.Tree != Catalogue))
        {
            SimulatedDisk damaged = store.With(random, BuiltStore.DataFile, bytes => BuiltStore.Spoil(bytes, page, random));
            SalvageReport report = Run(store, damaged, random, out _);
            Assert.All(report.Trees, tree => Assert.Equal(0, tree.DoubtfulKeys));
            if (report.IsComplete)
                continue; // a page of an older state

            hits++;
            AssertCheckNames(damaged, random, page);
        }

        Assert.True(hits > 0, "Some of the pages must have been in use.");
    }

    [Fact]
    public void A_value_is_lost_with_any_page_of_its_run()
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly: true);
        // behind the first page of a run of an older state
        HashSet<long> catalogue = [.. store.Pages().Where(page => page.Tree == Catalogue).Select(page => page.Number)];
        int hits = 0;
        foreach (long page in Sample(store, random, page => page.Type == Overflow && !catalogue.Contains(page.Number + 1)))
        {
            SimulatedDisk damaged = store.With(
                random, BuiltStore.DataFile, bytes => bytes[((page + 1) * BuiltStore.PageBytes) + random.Next(100)] ^= 0x10);
            SalvageReport report = Run(store, damaged, random, out _);
            hits += report.Trees.Sum(tree => tree.LostValues) > 0 ? 1 : 0;
        }

        Assert.True(hits > 0, "Some of the runs must have been in use and longer than a page.");
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_damaged_branch_or_root_loses_nothing_because_its_leaves_are_found(bool closesCleanly)
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly);
        int hits = 0;
        foreach (long page in Sample(store, random, page => page.Type == Branch && page.Tree != Catalogue))
        {
            SimulatedDisk damaged = store.With(random, BuiltStore.DataFile, bytes => BuiltStore.Spoil(bytes, page, random));
            SalvageReport report = Run(store, damaged, random, out _);
            hits += report.ProblemCount > 0 ? 1 : 0;
            if (closesCleanly)
                Assert.All(
                    report.Trees, tree => Assert.True(tree.IsComplete, $"{tree.Name}: {tree.Keys} of {tree.ExpectedKeys}"));
        }

        Assert.True(hits > 0, "Some of the pages must have been in use.");
    }

    [Fact]
    public void Without_the_bitmap_leaves_below_a_lost_branch_come_back_as_doubtful()
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly: true);
        long[] bitmaps = [.. store.Pages().Where(page => page.Type == Bitmap).Select(page => page.Number)];
        int doubts = 0;
        foreach (long page in Sample(store, random, page => page.Type == Branch && page.Tree != Catalogue))
        {
            SimulatedDisk damaged = store.With(random, BuiltStore.DataFile, bytes =>
            {
                foreach (long bitmap in bitmaps)
                    BuiltStore.Spoil(bytes, bitmap, random);
                BuiltStore.Spoil(bytes, page, random);
            });
            SalvageReport report = Run(store, damaged, random, out _);
            doubts += report.Trees.Any(tree => tree.DoubtfulKeys > 0) ? 1 : 0;
        }

        Assert.True(doubts > 0, "Some of the pages must have been in use.");
    }

    [Fact]
    public void A_damaged_catalogue_loses_names_and_their_trees_come_back_under_numbers()
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly: true);
        SimulatedDisk damaged = store.With(random, BuiltStore.DataFile, bytes =>
        {
            foreach ((long number, _, _, _) in store.Pages().Where(page => page.Tree == Catalogue))
                BuiltStore.Spoil(bytes, number, random);
        });
        SimulatedDisk target = new(random);
        SalvageReport report = Salvage.Run(
            BuiltStore.WorldOf(damaged, random), BuiltStore.WorldOf(target, random), null, null, CancellationToken.None);
        Assert.False(report.IsComplete);
        using StorageEnvironment environment = BuiltStore.Open(target, random);
        using ReadTransaction read = environment.BeginRead();
        foreach (SortedDictionary<byte[], byte[]> tree in store.Last.Trees.Values)
            Assert.Contains(
                read.TreeNames,
                name => name.StartsWith("lost-tree-", StringComparison.Ordinal) && IsEqual(read.FindTree(name)!, tree));
    }

    [Fact]
    public void Without_meta_pages_the_newest_root_is_found()
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly: true);
        SimulatedDisk damaged = store.With(
            random, BuiltStore.DataFile, bytes => bytes.AsSpan(0, 2 * BuiltStore.PageBytes).Clear());
        SalvageReport report = Run(store, damaged, random, out _);
        Assert.True(report.ProblemCount > 0);
        Assert.All(report.Trees, tree => Assert.Equal(tree.ExpectedKeys, tree.Keys));
    }

    [Fact]
    public void Without_meta_pages_the_journal_is_read_to_its_end_and_nothing_is_lost()
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly: false);
        SimulatedDisk damaged = store.With(
            random, BuiltStore.DataFile, bytes => bytes.AsSpan(0, 2 * BuiltStore.PageBytes).Clear());
        SalvageReport report = Run(store, damaged, random, out _);
        Assert.Equal(store.States.Keys.Max(), report.TransactionId);
        Assert.All(report.Trees, tree => Assert.True(tree.IsComplete, $"{tree.Name}: {tree.Keys} of {tree.ExpectedKeys}"));
    }

    [Fact]
    public void Without_meta_pages_and_with_a_damaged_journal_nothing_comes_back_that_never_was()
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly: false);
        long last = store.States.Keys.Max();
        (string Journal, int Offset)[] frames = [.. store.LiveFrames()];
        random.Shuffle(frames);
        foreach ((string journal, int offset) in frames.Take(6))
        {
            SimulatedDisk damaged = store.With(
                random, BuiltStore.DataFile, bytes => bytes.AsSpan(0, 2 * BuiltStore.PageBytes).Clear());
            byte[] bytes = [.. damaged.Bytes(journal)];
            bytes[offset + random.Next(FrameHeader.SizeBytes + JournalPayload.HeadBytes)] ^= 4;
            damaged.Replace(journal, bytes);
            var target = new SimulatedDisk(random);
            SalvageReport report = Salvage.Run(
                BuiltStore.WorldOf(damaged, random), BuiltStore.WorldOf(target, random), null, null, CancellationToken.None);
            Assert.InRange(report.TransactionId, last - 1, last); // the frames after the damage are intact
            using StorageEnvironment environment = BuiltStore.Open(target, random);
            using ReadTransaction read = environment.BeginRead();
            AssertNamed(store.States[report.TransactionId], report, read);
        }
    }

    [Fact]
    public void Without_meta_pages_a_session_without_a_journal_is_found_newer_than_the_journal_before_it()
    {
        var random = new Random(Seed.Next());
        var disk = new SimulatedDisk(random);
        foreach ((
            string value,
            Durability durability) in (ReadOnlySpan<(string, Durability)>)
            [
                ("old", Durability.Durable), ("new", Durability.Relaxed)
            ])
        {
            using StorageEnvironment environment = BuiltStore.Open(
                disk, random, BuiltStore.Options with { Durability = durability });
            environment.Write(
                transaction => transaction.GetOrCreateTree("t").Put("k"u8, System.Text.Encoding.UTF8.GetBytes(value)));
        }

        disk.Bytes(BuiltStore.DataFile).AsSpan(0, 2 * BuiltStore.PageBytes).Clear();
        var target = new SimulatedDisk(random);
        Salvage.Run(BuiltStore.WorldOf(disk, random), BuiltStore.WorldOf(target, random), null, null, CancellationToken.None);
        using StorageEnvironment salvaged = BuiltStore.Open(target, random);
        using ReadTransaction read = salvaged.BeginRead();
        Assert.True(read.FindTree("t")!.TryGet("k"u8, out ReadOnlySpan<byte> found) && found.SequenceEqual("new"u8));
    }

    [Fact]
    public void One_damaged_meta_page_costs_nothing_while_the_journal_is_there()
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly: false);
        for (int slot = 0; slot < 2; slot++)
        {
            int page = slot;
            SimulatedDisk damaged = store.With(random, BuiltStore.DataFile, bytes =>
            {
                bytes[(page * BuiltStore.PageBytes) + random.Next(256)] ^= 1;
                bytes[(page * BuiltStore.PageBytes) + (BuiltStore.PageBytes / 2) + random.Next(256)] ^= 1;
            });
            SalvageReport report = Salvage.Run(
                BuiltStore.WorldOf(damaged, random), BuiltStore.WorldOf(new SimulatedDisk(random), random), null, null,
                CancellationToken.None);
            Assert.True(report.ProblemCount > 0);
        }
    }

    /// <summary>The system tree says that pages of the newest state, or pages that cannot be, are kept for a snapshot.</summary>
    [Theory]
    [InlineData(2, 100)]
    [InlineData(2, int.MaxValue)]
    [InlineData(0, 3)]
    [InlineData(50, 0)]
    [InlineData(50, -1)]
    [InlineData((1L << 48) - 1, int.MaxValue)]
    public void A_run_of_pages_kept_for_a_snapshot_that_cannot_be_takes_nothing_from_the_newest_state(long first, int pages)
    {
        const int Keys = 2000;
        var random = new Random(1);
        var disk = new SimulatedDisk(random);
        PageReference system, root;
        using (StorageEnvironment environment = BuiltStore.Open(disk, random))
        {
            Put(environment, version: 1);
            environment.CreateSnapshot("s");
            Put(environment, version: 2);
            environment.Checkpoint();
            system = environment.State.Current.System.Root;
            using ReadTransaction read = environment.BeginRead();
            root = read.FindTree("t")!.Record.Root;
        }

        byte[] file = disk.Bytes(BuiltStore.DataFile);
        Span<byte> bytes = file.AsSpan((int)system.Number * BuiltStore.PageBytes, BuiltStore.PageBytes);
        var leaf = new SlottedPage(bytes);
        int forged = 0;
        for (int i = 0; i < leaf.Count; i++)
        {
            if (!SystemKey.IsPinned(LenientWalk.KeyOf(leaf, i)))
                continue;

            new PinnedRun(new PageRun(first, pages), Birth: 1, Freed: 1).Write(leaf.Value(i, out _));
            forged++;
        }

        Assert.NotEqual(0, forged);
        new Page(bytes).Checksum = Page.ComputeChecksum(bytes);
        BuiltStore.Spoil(file, root.Number, random); // so that its leaves are searched for
        disk.Replace(BuiltStore.DataFile, file);
        var target = new SimulatedDisk(random);
        SalvageReport report = Salvage.Run(
            BuiltStore.WorldOf(disk, random), BuiltStore.WorldOf(target, random), null, null, CancellationToken.None);
        Assert.Contains(report.Problems, problem => problem.Tree == "(system)");
        Assert.Equal(Keys, Assert.Single(report.Trees, tree => tree.Name == "other").Keys);
        if (pages == 100)
            return; // it is possible, and takes leaves without a root with it

        Assert.Contains(
            report.Problems,
            problem => problem.Page == system.Number
                && problem.What.StartsWith($"{pages} pages from {first} on", StringComparison.Ordinal));
        Assert.Equal(Keys, Assert.Single(report.Trees, tree => tree.Name == "t").Keys);

        static void Put(StorageEnvironment environment, byte version) => environment.Write(transaction =>
        {
            for (int key = 0; key < Keys; key++)
                foreach (string name in (string[])["t", "other"])
                    transaction.GetOrCreateTree(name).Put(BitConverter.GetBytes(key), [.. new byte[100], version]);
            return true;
        });
    }

    [Fact]
    public void A_damaged_journal_gives_the_state_before_the_damage()
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly: false);
        long last = store.States.Keys.Max();
        (string Journal, int Offset)[] frames = [.. store.LiveFrames()];
        Assert.NotEmpty(frames);
        random.Shuffle(frames);
        foreach ((string journal, int offset) in frames.Take(12))
        {
            // Header and start of the payload, so that padding is never hit.
            SimulatedDisk damaged = store.With(
                random, journal, bytes => bytes[offset + random.Next(FrameHeader.SizeBytes + JournalPayload.HeadBytes)] ^= 4);
            var target = new SimulatedDisk(random);
            SalvageReport report = Salvage.Run(
                BuiltStore.WorldOf(damaged, random), BuiltStore.WorldOf(target, random), null, null, CancellationToken.None);
            using StorageEnvironment environment = BuiltStore.Open(target, random);
            using ReadTransaction read = environment.BeginRead();
            Assert.InRange(report.TransactionId, store.CheckpointedUpTo, last - 1);
            Assert.True(
                store.States[report.TransactionId].IsEqual(read), $"Transaction {report.TransactionId} is not as it was.");
        }
    }

    [Fact]
    public void A_salvage_that_is_cancelled_leaves_nothing_behind_and_a_target_in_use_is_refused()
    {
        using var directory = new TemporaryDirectory();
        string source = Path.Combine(directory.Path, "source"), target = Path.Combine(directory.Path, "target");
        using (StorageEnvironment environment = StorageEnvironment.Open(source))
        {
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put("k"u8, "v"u8));
            EnvironmentLockedException error = Assert.Throws<EnvironmentLockedException>(() => Salvage.Run(source, target));
            Assert.Contains($"process {Environment.ProcessId}", error.Message, StringComparison.Ordinal);
            Assert.Throws<EnvironmentLockedException>(() => StorageCheck.Run(source));
        }

        Assert.ThrowsAny<OperationCanceledException>(
            () => Salvage.Run(source, target, null, null, new CancellationToken(canceled: true)));
        Assert.Empty(Directory.GetFiles(target));
        Dictionary<string, byte[]> before = Directory.GetFiles(source).ToDictionary(file => file, File.ReadAllBytes);
        Assert.True(Salvage.Run(source, target).IsComplete);
        Assert.All(before, file => Assert.Equal(file.Value, File.ReadAllBytes(file.Key)));
        Assert.True(StorageCheck.Run(target).IsClean);
        Assert.Throws<StorageException>(() => Salvage.Run(source, target));
    }

    /// <summary>Salvages, and compares the result with the newest state and with the report.</summary>
    private static SalvageReport Run(BuiltStore store, SimulatedDisk damaged, Random random, out SimulatedDisk target)
    {
        target = new SimulatedDisk(random);
        SalvageReport report = Salvage.Run(
            BuiltStore.WorldOf(damaged, random), BuiltStore.WorldOf(target, random), null, null, CancellationToken.None);
        using StorageEnvironment environment = BuiltStore.Open(target, random);
        Assert.Empty(environment.Check().Problems);
        using ReadTransaction read = environment.BeginRead();
        AssertNamed(store.Last, report, read);
        return report;
    }

    /// <summary>Verifies that everything found belongs to the state or is reported as doubtful, and that everything missing
    /// is reported.</summary>
    private static void AssertNamed(Model state, SalvageReport report, ReadTransaction read)
    {
        Assert.Equal(state.Trees.Keys.Order(StringComparer.Ordinal), read.TreeNames.Order(StringComparer.Ordinal));
        foreach ((string name, SortedDictionary<byte[], byte[]> expected) in state.Trees)
        {
            SalvagedTree said = Assert.Single(report.Trees, tree => tree.Name == name);
            Tree found = read.FindTree(name)!;
            Assert.Equal(said.Keys, found.Count);
            foreach ((byte[] key, byte[] value) in expected)
            {
                if (found.TryGet(key, out ReadOnlySpan<byte> there) && there.SequenceEqual(value))
                    continue;
                Assert.True(
                    IsIn(said.MissingRanges, key) || IsIn(said.DoubtfulRanges, key),
                    $"'{name}': a key outside of the missing ranges is not as it was.");
            }

            using Cursor cursor = found.OpenCursor();
            for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
            {
                byte[] key = cursor.Key.ToArray();
                if (!expected.TryGetValue(key, out byte[]? value) || !cursor.Value.SequenceEqual(value))
                    Assert.True(
                        IsIn(said.DoubtfulRanges, key),
                        $"'{name}': a key or value came back that is not of the newest state, and is not called doubtful.");
            }
        }
    }

    private static void AssertCheckNames(SimulatedDisk damaged, Random random, long page)
    {
        CheckReport report = StorageCheck.Run(BuiltStore.WorldOf(damaged, random), null, null, CancellationToken.None);
        Assert.False(report.IsClean);
        Assert.Contains(
            report.Problems, problem => problem.Page == page || problem.What.Contains($"age {page} ", StringComparison.Ordinal));
    }

    private static bool IsIn(IEnumerable<KeyRange> ranges, byte[] key) => ranges.Any(range =>
        (range.From is null || key.AsSpan().SequenceCompareTo(range.From) >= 0)
            && (range.To is null || key.AsSpan().SequenceCompareTo(range.To) < 0));

    private static bool IsEqual(Tree tree, SortedDictionary<byte[], byte[]> expected)
    {
        if (tree.Count != expected.Count)
            return false;
        foreach ((byte[] key, byte[] value) in expected)
            if (!tree.TryGet(key, out ReadOnlySpan<byte> found) || !found.SequenceEqual(value))
                return false;
        return true;
    }

    private static List<long> Sample(
        BuiltStore store, Random random, Func<(long Number, int Type, int Level, uint Tree), bool> filter)
    {
        long[] all = [.. store.Pages().Where(filter).Select(page => page.Number)];
        Assert.NotEmpty(all);
        random.Shuffle(all);
        byte[] data = store.Disk.Bytes(BuiltStore.DataFile);
        // The others may belong to older states.
        long[] youngest = [.. all.OrderByDescending(page => BitConverter.ToInt64(data, ((int)page * BuiltStore.PageBytes) + 8))];
        return [.. youngest.Take(SamplesOfEachKind)];
    }
}
