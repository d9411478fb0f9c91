using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>
/// Closing: operations in progress end, no new ones begin, and the directory is released only when nothing remains to be
/// done in it.
/// </summary>
public sealed class LifetimeTests
{
    private static readonly StorageOptions _options = new()
    {
        MaxDataFileBytes = 64 << 20,
        ScratchReserveBytes = 64 << 20,
        ScratchBudgetBytes = 8 << 20,
        FirstJournalFileBytes = 16 << 10,
        MaxJournalFileBytes = 256 << 10,
    };

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public void The_directory_stays_locked_until_the_last_file_is_deleted()
    {
        var disk = new SimulatedDisk(new Random(1));
        var files = new WatchedFiles(disk);
        StorageEnvironment environment = Open(files);
        for (int key = 0; key < 200; key++)
            Put(environment, key);
        ReadTransaction last = environment.BeginRead();
        int deleted = 0;
        files.OnDelete = _ =>
        {
            deleted++;
            last.Dispose();
            Assert.Throws<EnvironmentLockedException>(() => Open(disk));
        };
        environment.Dispose();
        Assert.True(deleted > 0, "Closing deleted no file: the test shows nothing.");
        using StorageEnvironment again = Open(disk);
        using ReadTransaction read = again.BeginRead();
        Assert.Equal(200, read.FindTree("t")!.Count);
        Assert.Empty(again.Check(Token).Problems);
    }

    [Fact]
    public void A_read_that_is_open_at_closing_stays_usable_and_its_end_releases_the_directory()
    {
        var disk = new SimulatedDisk(new Random(1));
        StorageEnvironment environment = Open(disk);
        for (int key = 0; key < 200; key++)
            Put(environment, key);
        ReadTransaction first = environment.BeginRead(), last = environment.BeginRead();
        environment.Dispose();
        first.Dispose();
        Assert.Throws<EnvironmentLockedException>(() => Open(disk));
        Assert.Throws<ObjectDisposedException>(() => environment.BeginRead());
        Assert.Throws<ObjectDisposedException>(() => last.BeginSame());
        int operations = disk.Operations;
        for (int key = 0; key < 200; key++)
            Assert.True(last.FindTree("t")!.Contains(BitConverter.GetBytes(key)));
        last.Dispose();
        Assert.Equal(operations, disk.Operations);
        using StorageEnvironment again = Open(disk);
        Assert.Empty(again.Check(Token).Problems);
    }

    /// <summary>
    /// Closes an environment during operations of every kind, interleaved by the seed. The next process opens the directory
    /// as soon as it can.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Closing_beside_everything_else_leaves_a_directory_that_the_next_one_has_for_itself(bool isEncrypted)
    {
        int closedBeside = 0;
        SmallDisk.Repeat(isEncrypted ? 60 : 120, seed =>
        {
            var run = new ClosingRun(seed, isEncrypted);
            run.Run();
            closedBeside += run.Ended;
        });
        Assert.True(closedBeside > 20, $"Only {closedBeside} operations were ended by closing: the runs show little.");
    }

    [Fact]
    public async Task A_check_ends_at_its_next_step_when_the_environment_closes()
    {
        using StorageEnvironment environment = Open(new SimulatedDisk(new Random(1)));
        environment.Write(transaction =>
        {
            for (int key = 0; key < 20_000; key++)
                transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(key), new byte[100]);
            return true;
        });
        Task? closing = null;
        var progress = new Steps<CheckProgress>(() =>
        {
            closing ??= Task.Run(environment.Dispose, Token);
            while (IsOpen(environment))
                Thread.Yield();
        });
        Assert.Throws<ObjectDisposedException>(() => environment.Check(progress, Token));
        await closing!.WaitAsync(Eventually.Patience, Token); // set by the progress callback
    }

    [Fact]
    public void Closing_is_refused_to_an_operation_that_it_would_have_to_wait_for()
    {
        var disk = new SimulatedDisk(new Random(1));
        using (StorageEnvironment environment = Open(disk))
        {
            Put(environment, 1);
            var progress = new Steps<ShrinkProgress>(environment.Dispose);
            Assert.Throws<InvalidOperationException>(() => environment.Shrink(progress, Token));
            Assert.Throws<InvalidOperationException>(() => environment.Write<int>(_ =>
            {
                environment.Dispose();
                return 0;
            }));
            Put(environment, 2);
        }

        using StorageEnvironment again = Open(disk);
        using ReadTransaction read = again.BeginRead();
        Assert.Equal(2, read.FindTree("t")!.Count);
    }

    [Fact]
    public void Whatever_the_last_checkpoint_fails_with_the_directory_is_released()
    {
        var disk = new SimulatedDisk(new Random(1));
        var files = new WatchedFiles(disk);
        StorageEnvironment environment = Open(files);
        Put(environment, 1);
        files.OnDataWrite = () => throw new NotSupportedException("Nobody expects this.");
        environment.Dispose();
        using StorageEnvironment again = Open(disk);
        using ReadTransaction read = again.BeginRead();
        Assert.Equal(1, read.FindTree("t")!.Count);
        Assert.Empty(again.Check(Token).Problems);
    }

    [Fact]
    public async Task Closing_asynchronously_closes_where_no_thread_can_be_started()
    {
        var disk = new SimulatedDisk(new Random(1));
        var scheduler = new RefusingScheduler();
        StorageEnvironment environment = Open(disk, scheduler);
        Put(environment, 1);
        scheduler.IsRefusing = true;
        await environment.DisposeAsync();
        using StorageEnvironment again = Open(disk);
        using ReadTransaction read = again.BeginRead();
        Assert.Equal(1, read.FindTree("t")!.Count);
    }

    private static void Put(StorageEnvironment environment, int key) =>
        environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(key), new byte[1500]));

    private static StorageEnvironment Open(IFileSystem files, IScheduler? scheduler = null)
    {
        var world = new World(files, TimeProvider.System, new Random(1), IsBackgroundAllowed: scheduler is not null);
        return StorageEnvironment.Open(scheduler is null ? world : world with { Scheduler = scheduler }, _options);
    }

    private static bool IsOpen(StorageEnvironment environment)
    {
        try
        {
            environment.BeginRead().Dispose();
            return true;
        }
        catch (ObjectDisposedException)
        {
            return false;
        }
    }

    private sealed class Steps<T>(Action onStep) : IProgress<T>
    {
        public void Report(T value) => onStep();
    }
}
