using System.Runtime.CompilerServices;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>
/// Whatever fails between acquiring and releasing the commit queue, the queue is released, and all waiting callers get the
/// correct result.
/// </summary>
public sealed class CommitQueueTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Where_no_thread_can_be_started_to_help_the_leader_goes_on_itself()
    {
        var disk = new SimulatedDisk(new Random(1));
        var files = new WatchedFiles(disk);
        var scheduler = new RefusingScheduler();
        using StorageEnvironment environment = Open(files, scheduler);
        Put(environment, 0);
        Task<bool>? second = null;
        int leader = Environment.CurrentManagedThreadId; // other threads sync too: spare files
        files.OnJournalSync = _ =>
        {
            if (second is null && Environment.CurrentManagedThreadId == leader)
                second = environment.WriteAsync(transaction => transaction.GetOrCreateTree("t").Put("second"u8, "2"u8)).AsTask();
        };
        scheduler.IsRefusing = true;
        Put(environment, 1); // the second command arrives during the sync of this one, and needs a leader afterwards
        Assert.True(await second!.WaitAsync(Eventually.Patience, Token)); // started during the sync
        Assert.True(scheduler.Refused > 0, "Nobody asked for a thread: the test shows nothing.");
        Put(environment, 2);
        Assert.Equal(4, Count(environment));
    }

    [Fact]
    public async Task Where_no_thread_can_be_started_before_a_flush_the_flush_still_ends()
    {
        var disk = new SimulatedDisk(new Random(1));
        var files = new WatchedFiles(disk);
        var scheduler = new RefusingScheduler { IsRefusing = true };
        using StorageEnvironment environment = Open(files, scheduler);
        Task<bool>? second = null;
        files.OnCreate = _ => // the first journal file: the first command's batch is closed by then
            second ??= environment.WriteAsync(transaction => transaction.GetOrCreateTree("t").Put("second"u8, "2"u8)).AsTask();
        Put(environment, 1);
        Assert.True(await second!.WaitAsync(Eventually.Patience, Token)); // started when the file was created
        Assert.True(scheduler.Refused > 0, "Nobody asked for a thread: the test shows nothing.");
        Put(environment, 2);
        Assert.Equal(3, Count(environment));
    }

    [Fact]
    public void Where_no_thread_can_be_started_checkpoints_run_in_the_writers_thread_and_later_in_their_own()
    {
        var disk = new SimulatedDisk(new Random(1));
        var scheduler = new RefusingScheduler { IsRefusing = true };
        using (StorageEnvironment environment = Open(disk, scheduler))
        {
            for (int key = 0; key < 1_500; key++)
                Put(environment, key);
            StorageStatistics statistics = environment.GetStatistics();
            Assert.True(statistics.Checkpoints > 0, "No checkpoint was written.");
            Assert.True(
                statistics.ScratchBytes < 2 * SmallDisk.Options.ScratchBudgetBytes,
                $"{statistics.ScratchBytes} bytes wait for a checkpoint.");
            scheduler.IsRefusing = false;
            for (int key = 1_500; key < 3_000; key++)
                Put(environment, key);
            Assert.Equal(3_000, Count(environment));
            Assert.Empty(environment.Check(Token).Problems);
        }

        using StorageEnvironment again = Open(disk, new RefusingScheduler());
        Assert.Equal(3_000, Count(again));
    }

    [Fact]
    public void A_timer_that_cannot_be_created_fails_no_write()
    {
        var clock = new BrokenClock { RefusesTimers = true };
        var world = new World(new SimulatedDisk(new Random(1)), clock, new Random(1), IsBackgroundAllowed: true);
        using StorageEnvironment environment = StorageEnvironment.Open(
            world, SmallDisk.Options with { Durability = Durability.Relaxed });
        for (int key = 0; key < 5; key++)
            Put(environment, key);
        Assert.Equal(5, Count(environment));
    }

    [Fact]
    public async Task A_scrub_whose_timer_could_not_be_created_gets_one_with_the_next_background_work()
    {
        var clock = new BrokenClock { RefusesTimers = true };
        var world = new World(new SimulatedDisk(new Random(1)), clock, new Random(1), IsBackgroundAllowed: true);
        StorageOptions options = SmallDisk.Options with { ScrubInterval = TimeSpan.FromMilliseconds(1) };
        using StorageEnvironment environment = StorageEnvironment.Open(world, options);
        Put(environment, 0);
        environment.Checkpoint(Token);
        Assert.Equal(0, environment.GetStatistics().Scrub?.BytesVerified);
        clock.RefusesTimers = false;
        int key = 1;
        await Eventually.TrueAsync(
            () =>
            {
                Put(environment, key++); // uses up journal files, so that new ones are created in the background
                return environment.GetStatistics().Scrub is { BytesVerified: > 0 };
            },
            "the scrub has begun");
    }

    [Fact]
    public void A_checkpoint_that_fails_with_what_nobody_expects_is_a_failed_checkpoint()
    {
        var files = new WatchedFiles(new SimulatedDisk(new Random(1)));
        var clock = new SimulatedClock();
        using StorageEnvironment environment = StorageEnvironment.Open(
            new World(files, clock, new Random(1), IsBackgroundAllowed: false), SmallDisk.Options);
        Put(environment, 0);
        files.OnDataWrite = () => throw new NotSupportedException("Nobody expects this.");
        int key = 1;
        for (; environment.GetStatistics().CheckpointFailures == 0 && key < 2_000; key++)
            Put(environment, key);
        Assert.Equal("Nobody expects this.", environment.GetStatistics().LastCheckpointError);
        files.OnDataWrite = null;
        clock.Advance(TimeSpan.FromSeconds(1));
        Put(environment, key++);
        Assert.Equal(0, environment.GetStatistics().CheckpointFailures);
        Assert.Equal(key, Count(environment));
        Assert.Empty(environment.Check(Token).Problems);
    }

    [Fact]
    public void After_an_error_that_nobody_expects_everyone_is_told_that_nothing_was_kept()
    {
        var disk = new SimulatedDisk(new Random(1));
        var files = new WatchedFiles(disk);
        var clock = new BrokenClock();
        var world = new World(files, clock, new Random(1), IsBackgroundAllowed: false);
        int key = 0;
        using (StorageEnvironment environment = StorageEnvironment.Open(world, SmallDisk.Options))
        {
            Put(environment, key++);
            files.OnDataWrite = () => throw new StorageException("The data file cannot be written.");
            while (environment.GetStatistics().CheckpointFailures == 0 && key < 2_000)
                Put(environment, key++);
            clock.Failures = 1; // read by the queue when the next checkpoint may be due
            StorageException error = Assert.ThrowsAny<StorageException>(() => Put(environment, key));
            Assert.Contains("The clock is broken.", error.Message, StringComparison.Ordinal);
            Assert.Contains("nothing of it was kept", error.Message, StringComparison.Ordinal);
            Assert.IsNotType<CommitOutcomeUnknownException>(error);
            error = Assert.ThrowsAny<StorageException>(() => Put(environment, key));
            Assert.Contains("nothing of it was kept", error.Message, StringComparison.Ordinal);
            Assert.Equal(key, Count(environment));
            files.OnDataWrite = null;
        }

        using StorageEnvironment again = StorageEnvironment.Open(world, SmallDisk.Options);
        Assert.Equal(key, Count(again));
        Put(again, key);
        Assert.Empty(again.Check(Token).Problems);
    }

    [Fact]
    public void A_command_whose_freed_pages_cannot_be_looked_up_is_undone_alone()
    {
        const int Keys = 120;
        var disk = new SimulatedDisk(new Random(1));
        using (StorageEnvironment environment = OpenSmallGroups(disk))
        {
            environment.Write(transaction =>
            {
                for (int key = 0; key < Keys; key++)
                    transaction.GetOrCreateTree("a").Put(BitConverter.GetBytes(key), new byte[20_000]);
                return true;
            });
            environment.Write(transaction => transaction.GetOrCreateTree("b").Put("k"u8, new byte[100]));
        }

        DamageMiddleGroup(disk, out long damagedLeaf);
        // So that the bitmap cannot be recomputed.
        disk.Bytes(FormatLimits.DataFileName)[(damagedLeaf * PageLayout.SizeBytes) + 5000] ^= 1;
        int failed = 0;
        using (StorageEnvironment environment = OpenSmallGroups(disk))
        {
            for (int key = 0; key < Keys; key++)
            {
                long before = environment.State.Current.TransactionId;
                try
                {
                    environment.Write(transaction => transaction.FindTree("a")!.Put(BitConverter.GetBytes(key), [1]));
                }
                catch (CorruptionException)
                {
                    failed++;
                    Assert.Equal(before, environment.State.Current.TransactionId);
                    Assert.Equal(20_000, Length(environment, key));
                    continue;
                }

                Assert.Equal(1, Length(environment, key));
            }

            Assert.InRange(failed, 1, Keys - 1);
            AssertMateSucceeds(environment, Keys);
        }
    }

    [Fact]
    public async Task A_write_leaves_nothing_with_a_token_that_lives_on()
    {
        using var longLived = new CancellationTokenSource();
        var files = new WatchedFiles(new SimulatedDisk(new Random(1)));
        using StorageEnvironment environment = Open(files, new RefusingScheduler());
        Put(environment, 0);
        var commands = new List<WeakReference>();
        var pending = new List<Task<bool>>();
        int leader = Environment.CurrentManagedThreadId; // the holder of the queue may wait for other threads
        bool isDone = false;
        files.OnJournalSync = _ =>
        {
            if (Environment.CurrentManagedThreadId != leader || isDone)
                return;

            isDone = true;

            // From another thread, while the command being synced and a running one hold the queue.
            using var isRunning = new ManualResetEventSlim();
            using var mayEnd = new ManualResetEventSlim();
            Task holder = Task.Run(() => environment.WriteAsync(_ =>
            {
                isRunning.Set();
                mayEnd.Wait();
                return true;
            }).AsTask());
            isRunning.Wait();
            for (int i = 0; i < 50; i++)
                Submit(environment, commands, pending, longLived.Token);
            mayEnd.Set();
        };
        Put(environment, 1);
        await Task.WhenAll(pending).WaitAsync(Eventually.Patience, Token);
        pending.Clear();

        // The thread that answered the last command may still hold them all for a moment.
        await Eventually.TrueAsync(() =>
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            return commands.TrueForAll(command => !command.IsAlive);
        }, "none of the commands is kept");
        Assert.False(longLived.IsCancellationRequested);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void Submit(
        StorageEnvironment environment, List<WeakReference> commands, List<Task<bool>> pending, CancellationToken token)
    {
        var value = new byte[100];
        Func<WriteTransaction, bool> command = transaction => transaction.GetOrCreateTree("t").Put("k"u8, value);
        commands.Add(new WeakReference(value));
        pending.Add(environment.WriteAsync(command, token).AsTask());
    }

    /// <summary>Verifies that of two commands in one batch, only the failing one is undone.</summary>
    private static void AssertMateSucceeds(StorageEnvironment environment, int keys)
    {
        int failing = Enumerable.Range(0, keys).First(key => Length(environment, key) != 1);
        Task<bool>? first = null, mate = null;
        environment.Write(transaction =>
        {
            first = environment.WriteAsync(inner => inner.FindTree("a")!.Put(BitConverter.GetBytes(failing), [1])).AsTask();
            mate = environment.WriteAsync(inner => inner.GetOrCreateTree("mate").Put("k"u8, "v"u8)).AsTask();
            return transaction.GetOrCreateTree("c").Put("k"u8, "v"u8);
        });
        Assert.IsType<CorruptionException>(first!.Exception?.InnerException); // the command ran
        Assert.True(mate!.IsCompletedSuccessfully); // it ran too
        Assert.Equal(20_000, Length(environment, failing));
        using ReadTransaction read = environment.BeginRead();
        Assert.True(read.FindTree("mate")!.Contains("k"u8));
        Assert.True(read.FindTree("c")!.Contains("k"u8));
    }

    /// <summary>
    /// Damages the bitmap page of a group that contains values only, and returns the leaf of the other tree.
    /// </summary>
    private static void DamageMiddleGroup(SimulatedDisk disk, out long leaf)
    {
        long bitmap;
        using (IFile file = disk.Open(FormatLimits.DataFileName, create: false, writable: false))
        {
            MetaPage meta = DataFile.ReadMeta(disk, file);
            bitmap = meta.Bitmap.First;
            Assert.True(meta.PageCount > 4 * SmallGroup, $"{meta.PageCount} pages are too few for a group in the middle.");
        }

        using (StorageEnvironment environment = OpenSmallGroups(disk))
        using (ReadTransaction read = environment.BeginRead())
            leaf = read.FindTree("b")!.Record.Root.Number;
        disk.Bytes(FormatLimits.DataFileName)[((bitmap + 2) * PageLayout.SizeBytes) + PageLayout.HeaderBytes + 3] ^= 0x10;
    }

    private const int SmallGroup = 64;

    private static int Length(StorageEnvironment environment, int key)
    {
        using ReadTransaction read = environment.BeginRead();
        Assert.True(read.FindTree("a")!.TryGet(BitConverter.GetBytes(key), out ReadOnlySpan<byte> value));
        return value.Length;
    }

    private static long Count(StorageEnvironment environment)
    {
        using ReadTransaction read = environment.BeginRead();
        return read.FindTree("t")!.Count;
    }

    private static void Put(StorageEnvironment environment, int key) =>
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(key), new byte[1500]));

    private static StorageEnvironment Open(IFileSystem files, IScheduler scheduler) => StorageEnvironment.Open(
        new World(files, TimeProvider.System, new Random(1), IsBackgroundAllowed: true) { Scheduler = scheduler },
        SmallDisk.Options);

    private static StorageEnvironment OpenSmallGroups(SimulatedDisk disk) => StorageEnvironment.Open(
        new World(disk, TimeProvider.System, new Random(1), IsBackgroundAllowed: false) { PagesPerBitmap = SmallGroup },
        SmallDisk.Options);
}
