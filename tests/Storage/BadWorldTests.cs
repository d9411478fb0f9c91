using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests;

/// <summary>Damaged or foreign files and failing disks: a typed error or correct data, never a wrong result.</summary>
public sealed class BadWorldTests
{
    [Fact]
    public void A_second_opener_is_refused_and_told_who_has_it()
    {
        using var directory = new TemporaryDirectory();
        using (StorageEnvironment.Open(directory.Path))
        {
            EnvironmentLockedException error = Assert.Throws<EnvironmentLockedException>(
                () => StorageEnvironment.Open(directory.Path));
            Assert.Contains($"process {Environment.ProcessId}", error.Message, StringComparison.Ordinal);
            Assert.Throws<EnvironmentLockedException>(
                () => StorageEnvironment.Open(directory.Path, new StorageOptions { ReadOnly = true }));
        }

        using StorageEnvironment again = StorageEnvironment.Open(directory.Path);
    }

    [Fact]
    public void What_a_lock_said_before_is_not_read_again()
    {
        using var directory = new TemporaryDirectory();
        string file = Path.Combine(directory.Path, FormatLimits.LockFileName);
        foreach (int length in new[] { 0, 1, 55, 191, 192, 193, 500, 4_095, 4_096, 4_097, 9_000 })
        {
            StorageEnvironment.Open(directory.Path).Dispose();
            File.WriteAllText(file, new string('#', length));
            using StorageEnvironment environment = StorageEnvironment.Open(directory.Path);
            EnvironmentLockedException error = Assert.Throws<EnvironmentLockedException>(
                () => StorageEnvironment.Open(directory.Path));
            Assert.Matches(
                $@"open elsewhere: by process {Environment.ProcessId} \(.+\) on .+, since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\dZ\. Close it there first",
                error.Message);
            Assert.DoesNotContain("#", error.Message, StringComparison.Ordinal);
            Assert.Equal(4_096, new FileInfo(file).Length); // a whole block, so that writing it requires no read
        }
    }

    [Fact]
    public void A_read_only_environment_reads_and_changes_no_file()
    {
        using var directory = new TemporaryDirectory();
        using (StorageEnvironment environment = StorageEnvironment.Open(directory.Path))
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put("k"u8, "v"u8));

        Dictionary<string, byte[]> before = Directory.GetFiles(directory.Path).ToDictionary(file => file, File.ReadAllBytes);
        using (StorageEnvironment environment = StorageEnvironment.Open(directory.Path, new StorageOptions { ReadOnly = true }))
        {
            using ReadTransaction read = environment.BeginRead();
            Assert.True(read.FindTree("t")!.Contains("k"u8));
            Assert.Throws<InvalidOperationException>(() => environment.Write(transaction => true));
        }

        Assert.All(before, file => Assert.Equal(file.Value, File.ReadAllBytes(file.Key)));
    }

    [Fact]
    public void A_foreign_file_is_refused_and_left_alone()
    {
        using var directory = new TemporaryDirectory();
        string file = Path.Combine(directory.Path, "data.treepie");
        byte[] content = System.Text.Encoding.UTF8.GetBytes(new string('x', 100_000));
        File.WriteAllBytes(file, content);
        Assert.Throws<ForeignDataException>(() => StorageEnvironment.Open(directory.Path));
        Assert.Equal(content, File.ReadAllBytes(file));
    }

    [Fact]
    public void A_failing_journal_stops_writing_and_reads_go_on()
    {
        var random = new Random(1);
        var disk = new SimulatedDisk(random);
        using (StorageEnvironment environment = Open(disk, random))
        {
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put("a"u8, "1"u8));
            disk.FailAt = disk.Operations + 1; // the sync of the next frame
            Assert.Throws<CommitOutcomeUnknownException>(
                () => environment.Write(transaction => transaction.GetOrCreateTree("t").Put("b"u8, "2"u8)));
            Assert.Throws<WritingStoppedException>(
                () => environment.Write(transaction => transaction.GetOrCreateTree("t").Put("c"u8, "3"u8)));
            Assert.NotNull(environment.GetStatistics().WritingFault);
            using ReadTransaction read = environment.BeginRead();
            Assert.True(read.FindTree("t")!.Contains("a"u8));
            Assert.False(read.FindTree("t")!.Contains("b"u8));
        }

        using StorageEnvironment again = Open(disk, random);
        using ReadTransaction after = again.BeginRead();
        Assert.True(after.FindTree("t")!.Contains("a"u8));
        Assert.False(after.FindTree("t")!.Contains("c"u8));
    }

    [Fact]
    public void Journal_files_deleted_after_a_crash_are_missed_even_if_the_session_before_closed_cleanly()
    {
        var random = new Random(4);
        var disk = new SimulatedDisk(random);
        using (StorageEnvironment environment = Open(disk, random))
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put("a"u8, "1"u8));

        using (StorageEnvironment environment = Open(disk, random))
        {
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put("b"u8, "2"u8));
            disk.CrashAt = disk.Operations; // so that closing writes no checkpoint
        }

        disk.Crash();
        SimulatedDisk whole = disk.Copy(random);
        foreach (string name in disk.List().Where(name => name.StartsWith("journal-", StringComparison.Ordinal)))
            disk.Delete(name);
        CorruptionException error = Assert.Throws<CorruptionException>(() => Open(disk, random));
        Assert.Contains("missing", error.Message, StringComparison.Ordinal);

        using StorageEnvironment recovered = Open(whole, random);
        using ReadTransaction read = recovered.BeginRead();
        Assert.True(read.FindTree("t")!.Contains("b"u8));
    }

    [Fact]
    public void Journal_files_deleted_after_a_clean_close_are_not_missed()
    {
        var random = new Random(5);
        var disk = new SimulatedDisk(random);
        for (int session = 0; session < 3; session++)
        {
            using (StorageEnvironment environment = Open(disk, random))
                environment.Write(transaction => transaction.GetOrCreateTree("t").Put([(byte)session], "1"u8));
            foreach (string name in disk.List().Where(name => name.StartsWith("journal-", StringComparison.Ordinal)))
                disk.Delete(name);
        }

        using StorageEnvironment again = Open(disk, random);
        using ReadTransaction read = again.BeginRead();
        Assert.Equal(3, read.FindTree("t")!.Count);
    }

    [Fact]
    public void A_checkpoint_that_fails_is_told_in_the_statistics_until_one_succeeds()
    {
        var random = new Random(6);
        var disk = new SimulatedDisk(random);
        using StorageEnvironment environment = Open(disk, random);
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put("a"u8, "1"u8));
        Assert.Null(environment.GetStatistics().LastCheckpointError);
        disk.FailAt = disk.Operations;
        Assert.Throws<IOException>(() => environment.Checkpoint());
        Assert.Equal("The disk failed once.", environment.GetStatistics().LastCheckpointError);
        environment.Checkpoint();
        Assert.Null(environment.GetStatistics().LastCheckpointError);
    }

    [Fact]
    public void An_error_of_the_system_names_the_path_and_the_reason()
    {
        using var directory = new TemporaryDirectory();
        string file = Path.Combine(directory.Path, "file");
        File.WriteAllText(file, "in the way");
        StorageException error = Assert.Throws<StorageException>(() => StorageEnvironment.Open(Path.Combine(file, "store")));
        Assert.Contains(file, error.Message, StringComparison.Ordinal);
        string deep = Path.Combine(directory.Path, "a", "b", "c");
        PrivateFiles.CreateDirectory(deep);
        PrivateFiles.CreateDirectory(deep);
        Assert.True(Directory.Exists(deep));
    }

    [Fact]
    public void A_full_disk_fails_the_write_and_deletes_still_work()
    {
        var random = new Random(2);
        var disk = new SimulatedDisk(random) { CapacityBytes = 3 << 20 };
        using StorageEnvironment environment = Open(disk, random);
        int written = 0;
        Assert.Throws<DiskFullException>(() =>
        {
            for (; written < 10_000; written++)
                environment.Write(
                    transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(written), new byte[5000]));
        });
        Assert.InRange(written, 50, 9_999);
        for (int i = 0; i < written; i++)
            Assert.True(environment.Write(transaction => transaction.FindTree("t")!.Delete(BitConverter.GetBytes(i))));
        environment.Checkpoint();
        environment.Checkpoint();
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put("again"u8, new byte[5000]));
        Assert.Empty(environment.Check().Problems);
    }

    [Fact]
    public void A_damaged_file_gives_a_typed_error_or_right_data()
    {
        var random = new Random(Seed.Next());
        var disk = new SimulatedDisk(random);
        var model = new Model();
        var workload = new Workload(random, new WorkloadShape { Keys = 300, MaxValueBytes = 20_000 });
        var states = new Dictionary<long, Model> { [0] = model.Copy() };
        using (StorageEnvironment environment = Open(disk, random))
        {
            for (int i = 0; i < 26; i++)
            {
                environment.Write(workload.Next(model));
                // A command that changes nothing makes no transaction.
                states[environment.GetStatistics().LastTransactionId] = model.Copy();
                if (i == 20)
                    environment.Checkpoint();
            }

            disk.CrashAt = disk.Operations; // so that closing writes no checkpoint and the journal is needed
        }

        disk.Crash();
        int refused = 0;
        foreach (string name in disk.List())
        {
            for (int damage = 0; damage < 60; damage++)
            {
                SimulatedDisk copy = disk.Copy(random);
                byte[] bytes = copy.Bytes(name);
                int at = random.Next(bytes.Length);
                switch (damage % 4)
                {
                    case 0:
                        bytes[at] ^= (byte)(1 << random.Next(8));
                        break;
                    case 1:
                        bytes.AsSpan(at, Math.Min(bytes.Length - at, random.Next(20_000))).Clear();
                        break;
                    case 2:
                        random.NextBytes(bytes.AsSpan(at, Math.Min(bytes.Length - at, random.Next(20_000))));
                        break;
                    default:
                        copy.Replace(name, bytes[..at]);
                        break;
                }

                if (!ReadsRight(copy, random, states, out bool isPrefix))
                    refused++;
                else
                    Assert.True(isPrefix, $"Damage {damage % 4} at {at} of {name} gave other data.");
            }
        }

        Assert.True(refused > 0, "Some damage must hit something that is read.");
    }

    /// <summary>
    /// Returns false after a typed error. Otherwise sets whether the data is that of the transaction that was found (damage
    /// at the end of the journal counts as a torn tail).
    /// </summary>
    private static bool ReadsRight(SimulatedDisk disk, Random random, Dictionary<long, Model> states, out bool isRight)
    {
        isRight = false;
        try
        {
            using StorageEnvironment environment = Open(disk, random);
            using ReadTransaction read = environment.BeginRead();
            isRight = states[read.TransactionId].IsEqual(read);
            return environment.Check().IsClean;
        }
        catch (StorageException)
        {
            return false;
        }
    }

    [Fact]
    public void A_long_reader_holds_back_the_pages_it_sees_and_no_others()
    {
        var random = new Random(3);
        var disk = new SimulatedDisk(random);
        using StorageEnvironment environment = Open(disk, random);
        Put(0);
        environment.Checkpoint();
        using (ReadTransaction held = environment.BeginRead())
        {
            for (int round = 1; round <= 10; round++)
            {
                Put(round);
                environment.Checkpoint();
            }

            long size = environment.GetStatistics().DataFileBytes;
            for (int round = 11; round <= 60; round++)
            {
                Put(round);
                environment.Checkpoint();
            }

            Assert.Equal(size, environment.GetStatistics().DataFileBytes);
            Assert.True(held.FindTree("t")!.TryGet(BitConverter.GetBytes(17), out ReadOnlySpan<byte> old));
            Assert.Equal(0, old[0]);
            Assert.Equal(1, environment.GetStatistics().OpenReaders);
        }

        Assert.Empty(environment.Check().Problems);

        void Put(int round) => environment.Write(transaction =>
        {
            Tree tree = transaction.GetOrCreateTree("t");
            for (int key = 0; key < 200; key++)
                tree.Reserve(BitConverter.GetBytes(key), 1000)[0] = (byte)round;
            return true;
        });
    }

    private static StorageEnvironment Open(SimulatedDisk disk, Random random) =>
        StorageEnvironment.Open(new World(disk, TimeProvider.System, random, false), SmallDisk.Options);
}
