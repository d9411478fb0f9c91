using System.Diagnostics;
using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Tests.Checks;
using Treepie.Storage.Tests.Killing;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests;

/// <summary>
/// The guarantees of the store for each kind of failure of its environment, one short test each. The thorough tests are
/// <see cref="CrashTests"/>, <see cref="BadInputTests"/>, <see cref="PageFuzzTests"/>, the salvage tests and the torture run.
/// </summary>
public sealed class WhenTheWorldMisbehavesTests
{
    [Fact]
    public void Killed_or_power_lost_at_any_instruction__every_acknowledged_commit_is_there_and_no_other_in_part() =>
        LosePowerAtEveryOperation(leavesGarbage: false, step: 1);

    [Fact]
    public void Writes_not_synced_are_torn_dropped_reordered_or_garbage__the_same() =>
        LosePowerAtEveryOperation(leavesGarbage: true, step: 3);

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void The_journal_cannot_be_written_or_synced__writing_stops_and_reading_goes_on(int call)
    {
        var random = new Random(1);
        var disk = new SimulatedDisk(random);
        using (StorageEnvironment environment = BuiltStore.Open(disk, random))
        {
            Put(environment, "a", "1");
            disk.FailAt = disk.Operations + call; // the write, or the sync, of the next frame
            Assert.Throws<CommitOutcomeUnknownException>(() => Put(environment, "b", "2"));
            int calls = disk.Operations;
            Assert.Throws<WritingStoppedException>(() => Put(environment, "c", "3"));
            Assert.Equal(calls, disk.Operations); // never retried on the same file
            using ReadTransaction read = environment.BeginRead();
            Assert.True(Has(read, "a"));
            Assert.False(Has(read, "b"));
        }

        using StorageEnvironment again = BuiltStore.Open(disk, random);
        using ReadTransaction after = again.BeginRead();
        Assert.True(Has(after, "a"));
        Assert.False(Has(after, "c"));
        Put(again, "d", "4");
        Assert.Empty(again.Check().Problems);
    }

    [Fact]
    public void A_checkpoint_cannot_be_written__nothing_is_lost_it_is_told_and_tried_again()
    {
        var random = new Random(2);
        var disk = new SimulatedDisk(random);
        using StorageEnvironment environment = BuiltStore.Open(disk, random);
        Put(environment, "a", "1");
        disk.FailAt = disk.Operations;
        Assert.ThrowsAny<Exception>(() => environment.Checkpoint());
        Assert.NotNull(environment.GetStatistics().LastCheckpointError);
        Put(environment, "b", "2");
        environment.Checkpoint();
        Assert.Null(environment.GetStatistics().LastCheckpointError);
        using ReadTransaction read = environment.BeginRead();
        Assert.True(Has(read, "a") && Has(read, "b"));
        Assert.Empty(environment.Check().Problems);
    }

    [Fact]
    public void The_disk_is_full__that_write_fails_deletes_work_and_then_writes_again()
    {
        var random = new Random(3);
        var disk = new SimulatedDisk(random) { CapacityBytes = 4 << 20 };
        using StorageEnvironment environment = BuiltStore.Open(disk, random);
        int written = 0;
        Assert.Throws<DiskFullException>(() =>
        {
            for (; written < 10_000; written++)
                environment.Write(
                    transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(written), new byte[5000]));
        });
        for (int i = 0; i < written; i++)
            Assert.True(environment.Write(transaction => transaction.FindTree("t")!.Delete(BitConverter.GetBytes(i))));
        environment.Checkpoint();
        environment.Checkpoint();
        Put(environment, "again", new string('x', 5000));
        Assert.Empty(environment.Check().Problems);
    }

    [Fact]
    public void A_bit_flips_at_rest__its_first_touch_names_file_page_and_tree_and_other_data_stays_readable()
    {
        var random = new Random(Seed.Next());
        BuiltStore store = BuiltStore.Build(random, closesCleanly: true, commits: 40);
        (long page, _, _, uint tree) = store.Pages().Last(page => page is { Type: 3, Tree: > 2 });
        int named = 0;
        foreach ((long number, int type, _, uint id) in store.Pages().Where(page => page is { Type: 3, Tree: > 2 }))
        {
            SimulatedDisk damaged = store.With(
                random, BuiltStore.DataFile, bytes => bytes[(number * BuiltStore.PageBytes) + 5000] ^= 1);
            using StorageEnvironment environment = BuiltStore.Open(damaged, random, BuiltStore.Options with { ReadOnly = true });
            using ReadTransaction read = environment.BeginRead();
            int right = 0;
            foreach ((string name, SortedDictionary<byte[], byte[]> expected) in store.Last.Trees)
            {
                foreach ((byte[] key, byte[] value) in expected)
                {
                    try
                    {
                        Assert.True(read.FindTree(name)!.TryGet(key, out ReadOnlySpan<byte> found) && found.SequenceEqual(value));
                        right++;
                    }
                    catch (CorruptionException error)
                    {
                        Assert.Contains($"Page {number} of '", error.Message, StringComparison.Ordinal);
                        Assert.Contains(BuiltStore.DataFile, error.Message, StringComparison.Ordinal);
                        Assert.Contains($"tree {id}", error.Message, StringComparison.Ordinal);
                        named++;
                    }
                }
            }

            Assert.True(right > 0, "Other pages hold other keys.");
            if (named > 0)
                return;
        }

        Assert.Fail($"None of the leaves, like {page} of tree {tree}, is in use.");
    }

    [Theory]
    [InlineData("truncated")]
    [InlineData("empty")]
    [InlineData("foreign")]
    [InlineData("newer")]
    [InlineData("swapped")]
    public void Files_are_truncated_empty_foreign_of_a_newer_format_or_swapped__a_clear_error_and_nothing_written(string damage)
    {
        using var directory = new TemporaryDirectory();
        string own = Make("own"), other = Make("other");
        string data = Path.Combine(own, BuiltStore.DataFile);
        byte[] bytes = File.ReadAllBytes(data);
        switch (damage)
        {
            case "truncated":
                File.WriteAllBytes(data, bytes[..(5 * BuiltStore.PageBytes)]);
                break;
            case "empty":
                File.WriteAllBytes(data, []);
                break;
            case "foreign":
                File.WriteAllText(data, new string('x', 100_000));
                break;
            case "newer":
                BadInputTests.SetVersion(bytes, 0, 2);
                BadInputTests.SetVersion(bytes, 1, 2);
                File.WriteAllBytes(data, bytes);
                break;
            default:
                File.Copy(Path.Combine(other, BuiltStore.DataFile), data, overwrite: true);
                break;
        }

        FolderState before = FolderState.Of(own);
        StorageException error = Assert.ThrowsAny<StorageException>(() => StorageEnvironment.Open(own));
        Assert.True(error is CorruptionException or ForeignDataException, error.GetType().Name);
        Assert.Contains(own, error.Message, StringComparison.Ordinal);
        before.AssertSame(own);

        string Make(string name)
        {
            string path = Path.Combine(directory.Path, name);
            // A single journal file, which stays when the store is closed and distinguishes the two stores.
            using StorageEnvironment environment = StorageEnvironment.Open(
                path, new StorageOptions { FirstJournalFileBytes = 4L << 20 });
            for (int i = 0; i < 200; i++)
                Put(environment, $"{name}/{i}", new string('v', 500));
            return path;
        }
    }

    [Fact]
    public void A_reader_never_ends__the_disk_stays_bounded_and_the_reader_is_named_with_its_age()
    {
        var random = new Random(4);
        var disk = new SimulatedDisk(random);
        var clock = new SimulatedClock();
        using StorageEnvironment environment = StorageEnvironment.Open(
            new World(disk, clock, random, false) { Ages = new CoarseClock(() => clock.NowMs) }, BuiltStore.Options);
        Fill(0);
        environment.Checkpoint();
        using (ReadTransaction held = environment.BeginRead("the yearly report"))
        {
            clock.Advance(TimeSpan.FromDays(365));
            for (int round = 1; round <= 10; round++)
                Fill(round);
            long size = environment.GetStatistics().DataFileBytes;
            for (int round = 11; round <= 40; round++)
                Fill(round);
            StorageStatistics statistics = environment.GetStatistics();
            Assert.Equal(size, statistics.DataFileBytes);
            Assert.Equal(1, statistics.OpenReaders);
            Assert.Equal(
                new ReaderInfo("the yearly report", held.TransactionId, TimeSpan.FromDays(365)), statistics.OldestReader);
            Assert.Equal(0, statistics.UnwrittenBytes);
            Assert.True(
                statistics.ScratchBytes < 4 << 20,
                $"{statistics.ScratchBytes} bytes of memory are held for a reader that looks at the disk.");
            Assert.True(held.FindTree("t")!.TryGet(BitConverter.GetBytes(17), out ReadOnlySpan<byte> old));
            Assert.Equal(0, old[0]);
        }

        Assert.Empty(environment.Check().Problems);

        void Fill(int round)
        {
            environment.Write(transaction =>
            {
                Tree tree = transaction.GetOrCreateTree("t");
                for (int key = 0; key < 150; key++)
                    tree.Reserve(BitConverter.GetBytes(key), 1000)[0] = (byte)round;
                return true;
            });
            environment.Checkpoint();
        }
    }

    [Fact]
    public void The_directory_is_copied_while_it_is_open__the_copy_is_a_whole_state_or_refused()
    {
        using var directory = new TemporaryDirectory();
        string own = Path.Combine(directory.Path, "own");
        int refused = 0, whole = 0;
        using (StorageEnvironment environment = StorageEnvironment.Open(own, KilledChild.Options))
        {
            for (int round = 0; round < 12; round++)
            {
                string copy = Path.Combine(directory.Path, $"copy{round}");
                Directory.CreateDirectory(copy);
                foreach (string file in Directory.GetFiles(own)
                    .Where(file => !file.EndsWith("lock.treepie", StringComparison.Ordinal))
                    .Order(StringComparer.Ordinal))
                {
                    for (int i = 0; i < 20; i++)
                        environment.Write(transaction => NumberedBatches.WriteNext(transaction, 0));
                    CopyOpen(file, Path.Combine(copy, Path.GetFileName(file)));
                    environment.Checkpoint();
                }

                try
                {
                    using StorageEnvironment opened = StorageEnvironment.Open(copy, KilledChild.Options);
                    using ReadTransaction read = opened.BeginRead();
                    NumberedBatches.AssertWhole(read, 0, 0);
                    Assert.Empty(opened.Check().Problems);
                    whole++;
                }
                catch (StorageException)
                {
                    refused++;
                }
            }
        }

        Assert.Equal(12, refused + whole);
    }

    [Fact]
    public void Two_processes_want_the_same_directory__the_second_is_refused_and_told_who_has_it()
    {
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path);
        Put(environment, "a", "1");
        // A process has a path.
        var start = new ProcessStartInfo(Environment.ProcessPath!)
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true
        };
        if (Path.GetFileNameWithoutExtension(start.FileName) == "dotnet")
            start.ArgumentList.Add(typeof(KilledChild).Assembly.Location);
        start.Environment[KilledChild.DirectoryVariable] = directory.Path;
        using Process child = Process.Start(start) ?? throw new InvalidOperationException("The child did not start.");
        string errors = child.StandardError.ReadToEnd();
        child.WaitForExit();
        Assert.NotEqual(0, child.ExitCode);
        Assert.Contains(nameof(EnvironmentLockedException), errors, StringComparison.Ordinal);
        Assert.Contains($"process {Environment.ProcessId}", errors, StringComparison.Ordinal);
        Put(environment, "b", "2");
    }

    /// <summary>Runs the same few transactions with a power failure at each operation in turn.</summary>
    private static void LosePowerAtEveryOperation(bool leavesGarbage, int step)
    {
        int seed = Seed.Next();
        for (int crashAt = 0; ; crashAt += step)
        {
            var random = new Random(seed);
            var disk = new SimulatedDisk(random) { LeavesGarbage = leavesGarbage, CrashAt = crashAt };
            var workload = new Workload(random, new WorkloadShape { Keys = 200, MaxSteps = 12, MaxValueBytes = 20_000 });
            var states = new List<Model> { new() };
            int acknowledged = 0;
            StorageEnvironment? environment = null;
            try
            {
                environment = BuiltStore.Open(disk, random);
                for (int i = 0; i < 10; i++)
                {
                    Model next = states[^1].Copy();
                    Func<WriteTransaction, bool> command = workload.Next(next);
                    states.Add(next);
                    environment.Write(command);
                    acknowledged = states.Count - 1;
                    if (i % 4 == 3)
                        environment.Checkpoint();
                }
            }
            catch (Exception error) when (disk.HasCrashed && error is IOException or StorageException)
            {
                // The power is off. Operations in progress may or may not have taken effect.
            }
            finally
            {
                environment?.Dispose();
            }

            if (!disk.HasCrashed)
                return;

            disk.Crash();
            using StorageEnvironment recovered = BuiltStore.Open(disk, random);
            Assert.Empty(recovered.Check().Problems);
            using ReadTransaction read = recovered.BeginRead();
            Assert.True(
                states[acknowledged..].Exists(state => state.IsEqual(read)),
                $"Power lost at operation {crashAt}, TREEPIE_SEED={seed}: the state is none of those after {acknowledged} "
                    + $"acknowledged commits.");
        }
    }

    private static void Put(StorageEnvironment environment, string key, string value) => environment.Write(transaction =>
        transaction.GetOrCreateTree("t").Put(System.Text.Encoding.UTF8.GetBytes(key), System.Text.Encoding.UTF8.GetBytes(value)));

    private static bool Has(ReadTransaction read, string key) =>
        read.FindTree("t")!.Contains(System.Text.Encoding.UTF8.GetBytes(key));

    /// <summary>
    /// Copies a file in spite of the locks that .NET respects. Spare files come and go; one that was deleted meanwhile is
    /// not copied.
    /// </summary>
    private static void CopyOpen(string from, string to)
    {
        try
        {
            using var source = new FileStream(from, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
            using var target = new FileStream(to, FileMode.CreateNew);
            source.CopyTo(target);
        }
        catch (FileNotFoundException)
        {
        }
    }
}
