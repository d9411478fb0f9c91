using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Tests.Transactions;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Journal;

/// <summary>Which files the journal uses and when, and how they are synced.</summary>
public sealed class JournalFilesTests
{
    private static readonly StorageOptions _small = SmallDisk.Options with { ScratchBudgetBytes = 4 << 20 };

    [Fact]
    public void No_file_grows_or_is_made_between_a_command_and_its_acknowledgement()
    {
        var random = new Random(Seed.Next());
        var files = new WatchedFiles(new SimulatedDisk(random));
        bool isCommitting = false;
        int filesMade = 0;
        using StorageEnvironment environment = Open(files, random, _small);
        Put(environment, 0, 500);
        files.OnCreate = name =>
        {
            filesMade++;
            Assert.False(isCommitting, $"'{name}' was made while a frame waited for it.");
        };
        files.OnJournalSync = _ => isCommitting = false; // the frame is written; a spare file may be created now
        for (int i = 1; i < 300; i++)
        {
            isCommitting = true;
            Put(environment, i, 500);
        }

        Assert.True(filesMade > 0, "So much does not fit into the first files.");
    }

    [Fact]
    public void A_file_that_cannot_be_made_is_deleted_however_often_it_is_tried()
    {
        var random = new Random(Seed.Next());
        var disk = new SimulatedDisk(random);
        var made = new HashSet<string>();
        using (StorageEnvironment environment = Open(disk, random, _small))
        {
            Put(environment, 0, 500);
            made.UnionWith(Journals());
            disk.Acting = (kind, name) =>
            {
                if (kind == DiskOperation.Sync && !made.Contains(name) && Journals().Contains(name))
                    throw new StorageException("The sync of a new file fails.");
            };
            int refused = 0;
            for (int i = 1; i < 200; i++)
                try
                {
                    Put(environment, i, 500);
                }
                catch (StorageException)
                {
                    refused++;
                }

            Assert.True(refused > 10, "It never needed another file.");
            Assert.Equal(made.Order(), Journals().Order());
            disk.Acting = null;
        }

        IEnumerable<string> Journals() =>
            disk.List().Where(static name => name.StartsWith(FormatLimits.JournalPrefix, StringComparison.Ordinal));
    }

    [Fact]
    public void Two_spare_files_are_ready_after_each_switch()
    {
        var random = new Random(Seed.Next());
        var disk = new SimulatedDisk(random);
        var files = new WatchedFiles(disk);
        using StorageEnvironment environment = Open(files, random, _small);
        for (int i = 0; i < 200; i++)
        {
            Put(environment, i, 500);
            Assert.True(disk.List().Count(name => name.StartsWith("journal-", StringComparison.Ordinal)) >= 3);
        }

        // A disk that is full from now on still accepts what fits into the spare files.
        files.OnAllocate = name =>
        {
            if (name.StartsWith("journal-", StringComparison.Ordinal))
                throw new DiskFullException("No room.");
        };
        for (int i = 0; i < 200; i++)
            Put(environment, i, 500);
        Assert.Empty(environment.Check(TestContext.Current.CancellationToken).Problems);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void The_loss_of_the_newest_file_is_noticed_whatever_state_the_session_began_in(int sessions)
    {
        var random = new Random(Seed.Next());
        var disk = new SimulatedDisk(random);
        StorageOptions options = _small with { MaxJournalFileBytes = 16 << 20 }; // so that no checkpoint refers to a later use
        for (int session = 0; session < sessions; session++)
        {
            using (StorageEnvironment environment = Open(disk, random, options))
            {
                for (int i = 0; i < 40; i++)
                    Put(environment, i, 500);
                disk.CrashAt = disk.Operations; // so that closing writes no checkpoint
            }

            disk.Crash();
        }

        string newest = disk.List()
            .Where(name => name.StartsWith("journal-", StringComparison.Ordinal))
            .MaxBy(name => UseOf(disk.Bytes(name)))!;
        SimulatedDisk whole = disk.Copy(random);
        disk.Delete(newest);
        CorruptionException error = Assert.Throws<CorruptionException>(() => Open(disk, random, options));
        Assert.Contains("missing", error.Message, StringComparison.Ordinal);

        using StorageEnvironment recovered = Open(whole, random, options);
        using ReadTransaction read = recovered.BeginRead();
        Assert.Equal(40, read.FindTree("t")!.Count);
    }

    [Fact]
    public void A_frame_whose_sync_failed_and_that_recovery_found_survives_what_comes_after()
    {
        int seed = Seed.Next();
        for (int run = 0; run < 30; run++)
        {
            var random = new Random(unchecked(seed + run));
            var disk = new SimulatedDisk(random);
            using (StorageEnvironment environment = Open(disk, random, _small))
            {
                for (int i = 0; i < 5; i++)
                    Put(environment, i, 500);
                disk.Fault = new DiskFault(DiskOperation.Sync, disk.Count(DiskOperation.Sync), IsForever: false);
                Assert.Throws<CommitOutcomeUnknownException>(() => Put(environment, 5, 500));
            }

            // The frame is still readable, although the disk may not have it; commits acknowledged now build on it.
            disk.Fault = null;
            bool isThere;
            using (StorageEnvironment environment = Open(disk, random, _small))
            {
                using (ReadTransaction read = environment.BeginRead())
                    isThere = read.FindTree("t")!.Contains(BitConverter.GetBytes(5));
                Put(environment, 6, 500);
                disk.CrashAt = disk.Operations; // so that closing writes no checkpoint
            }

            disk.Crash();
            using StorageEnvironment again = Open(disk, random, _small);
            using ReadTransaction after = again.BeginRead();
            Assert.Equal(isThere, after.FindTree("t")!.Contains(BitConverter.GetBytes(5)));
            Assert.True(after.FindTree("t")!.Contains(BitConverter.GetBytes(6)));
            Assert.Empty(again.Check(TestContext.Current.CancellationToken).Problems);
        }
    }

    [Fact]
    public void The_way_to_sync_is_measured_on_the_disk_at_hand_and_told()
    {
        using var directory = new TemporaryDirectory();
        using StorageEnvironment environment = StorageEnvironment.Open(directory.Path);
        Assert.Equal(JournalSyncMethod.NotChosen, environment.GetStatistics().JournalSyncMethod);
        Put(environment, 0, 10);
        Assert.NotEqual(JournalSyncMethod.NotChosen, environment.GetStatistics().JournalSyncMethod);
        Assert.Equal(1, environment.GetStatistics().JournalFramesWritten);
    }

    [Theory]
    [InlineData(true, false)]
    [InlineData(true, true)]
    [InlineData(false, false)]
    public void A_file_system_that_refuses_direct_writes_gets_cached_ones(bool refusesToOpen, bool refusesToWrite)
    {
        using var directory = new TemporaryDirectory();
        var files = new WatchedFiles(new DiskFileSystem(directory.Path))
        {
            RefusesDirect = refusesToOpen,
            FailsDirectWrites = refusesToWrite
        };
        using (StorageEnvironment environment = StorageEnvironment.Open(
            new World(files, TimeProvider.System, new Random(1), true), new StorageOptions()))
        {
            for (int i = 0; i < 20; i++)
                Put(environment, i, 3000);
            if (refusesToOpen || refusesToWrite)
                Assert.Equal(JournalSyncMethod.Cached, environment.GetStatistics().JournalSyncMethod);
            files.OnDataSync = () => throw new IOException("So that closing writes no checkpoint.");
        }

        using StorageEnvironment again = StorageEnvironment.Open(directory.Path);
        using ReadTransaction read = again.BeginRead();
        Assert.Equal(20, read.FindTree("t")!.Count);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Frames_written_either_way_are_recovered(bool isDirect)
    {
        using var directory = new TemporaryDirectory();
        var files = new WatchedFiles(new DiskFileSystem(directory.Path)) { RefusesDirect = !isDirect, ForcesDirect = isDirect };
        using (StorageEnvironment environment = StorageEnvironment.Open(
            new World(files, TimeProvider.System, new Random(1), true), _small))
        {
            for (int i = 0; i < 100; i++)
                Put(environment, i, 1 + (i * 40));
            files.OnDataSync = () => throw new IOException("So that closing writes no checkpoint.");
        }

        using StorageEnvironment again = StorageEnvironment.Open(directory.Path);
        using ReadTransaction read = again.BeginRead();
        Assert.Equal(100, read.FindTree("t")!.Count);
        Assert.Empty(again.Check(TestContext.Current.CancellationToken).Problems);
    }

    private static StorageEnvironment Open(IFileSystem files, Random random, StorageOptions options) =>
        StorageEnvironment.Open(new World(files, TimeProvider.System, random, false), options);

    private static void Put(StorageEnvironment environment, int key, int bytes) =>
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(key), new byte[bytes]));

    private static long UseOf(byte[] file) =>
        JournalFileHeader.TryRead(file.AsSpan(0, 4096).ToArray(), "", out JournalFileHeader header) ? header.Use : -1;
}
