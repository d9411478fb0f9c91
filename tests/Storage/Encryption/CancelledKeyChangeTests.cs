using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Tests.Transactions;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Encryption;

/// <summary>A change of the key that is cancelled leaves the old key in force, whatever ran beside it.</summary>
public sealed class CancelledKeyChangeTests
{
    [Fact]
    public async Task The_old_key_opens_though_a_checkpoint_of_someone_else_has_carried_the_new_one()
    {
        using var directory = new TemporaryDirectory();
        using EncryptionKey before = EncryptionKey.Generate(), after = EncryptionKey.Generate();
        using var isRunning = new ManualResetEventSlim();
        using var mayEnd = new ManualResetEventSlim();
        using var isWriting = new ManualResetEventSlim();
        using var maySync = new ManualResetEventSlim();
        using var cancellation = new CancellationTokenSource();
        var files = new WatchedFiles(new DiskFileSystem(directory.Path));
        var scheduler = new CountingScheduler();
        using StorageEnvironment environment = StorageEnvironment.Open(
            new World(files, TimeProvider.System, new Random(1), true) { Scheduler = scheduler },
            new StorageOptions { EncryptionKey = before });
        Put(environment, "first");
        environment.Checkpoint();

        // While a command runs, no checkpoint begins. The change of the key comes first, so that the checkpoint carries it.
        Task writing = Run(() => environment.Write(transaction =>
        {
            isRunning.Set();
            mayEnd.Wait();
            return transaction.GetOrCreateTree("t").Put("second"u8, "v"u8);
        }));
        isRunning.Wait(TestContext.Current.CancellationToken);
        Task changing = Run(() => environment.ChangeKey(after, cancellation.Token));
        scheduler.WaitFor(waits: 1);
        Task checkpoint = Run(() => environment.Checkpoint());
        scheduler.WaitFor(waits: 2);
        files.OnDataSync = () =>
        {
            isWriting.Set();
            maySync.Wait();
        };
        mayEnd.Set();
        isWriting.Wait(TestContext.Current.CancellationToken);
        await cancellation.CancelAsync();
        maySync.Set();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => changing);
        await checkpoint;
        await writing;

        // Killed: what the directory has now, with no closing.
        using var copy = new TemporaryDirectory();
        foreach (string file in files.List().Where(static file => file != FormatLimits.LockFileName))
            File.Copy(Path.Combine(directory.Path, file), Path.Combine(copy.Path, file));
        using StorageEnvironment again = StorageEnvironment.Open(copy.Path, new StorageOptions { EncryptionKey = before });
        using ReadTransaction read = again.BeginRead();
        Assert.Equal(2, read.FindTree("t")!.Count);
    }

    private static Task Run(Action action) => Task.Factory.StartNew(
        action, TestContext.Current.CancellationToken, TaskCreationOptions.LongRunning, TaskScheduler.Default);

    private static void Put(StorageEnvironment environment, string key) => environment.Write(
        transaction => transaction.GetOrCreateTree("t").Put(System.Text.Encoding.ASCII.GetBytes(key), "v"u8));

    /// <summary>The thread pool, which counts the threads that began to wait for something.</summary>
    private sealed class CountingScheduler : IScheduler
    {
        private readonly ThreadPoolScheduler _inner = new();
        private int _waits;

        public void WaitFor(int waits) => SpinWait.SpinUntil(() => Volatile.Read(ref _waits) >= waits);

        public void Queue(Action work) => _inner.Queue(work);

        public void Wait(object monitor)
        {
            Interlocked.Increment(ref _waits);
            _inner.Wait(monitor);
        }

        public Sleeper CreateSleeper() => _inner.CreateSleeper();
    }
}
