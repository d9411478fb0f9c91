using Treepie.Storage.Files;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>
/// The next batch runs while the previous one is synced: what is visible meanwhile, and what happens if the sync fails.
/// </summary>
public sealed class OverlapTests : IDisposable
{
    private const string FileInUse = "journal-0001.treepie";

    private readonly TemporaryDirectory _directory = new();
    private readonly WatchedFiles _files;
    private readonly StorageEnvironment _environment;
    private readonly ManualResetEventSlim _isSyncing = new();
    private readonly ManualResetEventSlim _isReleased = new();
    private Exception? _syncError;

    public OverlapTests()
    {
        _files = new WatchedFiles(new DiskFileSystem(_directory.Path));
        _environment = StorageEnvironment.Open(
            new World(_files, TimeProvider.System, new Random(1), true), new StorageOptions { FirstJournalFileBytes = 1 << 20 });
        Put(_environment, "first");
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _isReleased.Set();
        _environment.Dispose();
        _isSyncing.Dispose();
        _isReleased.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public async Task A_command_runs_while_the_frame_before_it_is_synced_and_readers_see_neither()
    {
        Task a = BeginHeldWrite("a");
        bool sawA = false;
        Task<bool> b = _environment.WriteAsync(transaction =>
        {
            sawA = transaction.FindTree("t")!.Contains("a"u8);
            return transaction.FindTree("t")!.Put("b"u8, "b"u8);
        }, Token).AsTask();

        Assert.True(sawA);
        Assert.False(a.IsCompleted);
        Assert.False(b.IsCompleted);
        Assert.Equal("first", Keys());
        _isReleased.Set();
        await a;
        await b;
        Assert.Equal("abfirst", Keys());
        Assert.Empty(_environment.Check(Token).Problems);
    }

    [Fact]
    public async Task Commands_that_come_during_a_sync_share_the_next_frame()
    {
        Task a = BeginHeldWrite("a");
        Task[] others = [
            .. Enumerable.Range(0, 20)
                .Select(
                    i => (Task)_environment.WriteAsync(
                        transaction => transaction.FindTree("t")!.Put([(byte)'b', (byte)i], "b"u8), Token).AsTask())];
        int syncs = 0;
        _files.OnJournalSync = name => syncs += name == FileInUse ? 1 : 0;
        _isReleased.Set();
        await a;
        await Task.WhenAll(others);
        Assert.Equal(1, syncs);
    }

    [Fact]
    public async Task A_command_that_changes_nothing_is_answered_after_what_it_saw_is_durable()
    {
        Task a = BeginHeldWrite("a");
        Task<bool> b = _environment.WriteAsync(transaction => transaction.FindTree("t")!.Contains("a"u8), Token).AsTask();
        Task<bool> c = _environment.WriteAsync<bool>(
            transaction => transaction.FindTree("t")!.Contains("a"u8) ? throw new FormatException("on purpose") : true,
            Token).AsTask();
        Assert.False(b.IsCompleted);
        Assert.False(c.IsCompleted);
        _isReleased.Set();
        Assert.True(await b);
        await Assert.ThrowsAsync<FormatException>(() => c);
        await a;
    }

    [Fact]
    public async Task A_failed_sync_takes_the_batch_behind_it_along_and_reads_go_on_at_the_last_durable_state()
    {
        Task a = BeginHeldWrite("a");
        Task<bool> b = _environment.WriteAsync(transaction => transaction.FindTree("t")!.Put("b"u8, "b"u8), Token).AsTask();
        _syncError = new IOException("The disk is gone.");
        _isReleased.Set();
        CommitOutcomeUnknownException error = await Assert.ThrowsAsync<CommitOutcomeUnknownException>(() => a);
        Assert.Contains("The disk is gone.", error.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<WritingStoppedException>(() => b);
        _syncError = null;
        Assert.Throws<WritingStoppedException>(() => Put(_environment, "c"));
        Assert.Throws<WritingStoppedException>(() => _environment.Checkpoint(Token));
        Assert.Equal("first", Keys());
        Assert.Empty(_environment.Check(Token).Problems);
    }

    [Fact]
    public async Task A_frame_that_becomes_durable_after_writing_has_stopped_is_committed()
    {
        Task a = BeginHeldWrite("a");
        Task<bool> b = _environment.WriteAsync(transaction => transaction.FindTree("t")!.Put("b"u8, "b"u8), Token).AsTask();
        _environment.State.Failure = new IOException("A checkpoint failed meanwhile.");
        _isReleased.Set();
        await a;
        await Assert.ThrowsAsync<WritingStoppedException>(() => b);
        Assert.Throws<WritingStoppedException>(() => Put(_environment, "c"));
        Assert.Equal("afirst", Keys());
        Assert.Empty(_environment.Check(Token).Problems);
        _files.OnJournalSync = null;
        _environment.Dispose();
        using StorageEnvironment again = StorageEnvironment.Open(_directory.Path);
        using ReadTransaction read = again.BeginRead();
        Assert.Equal(2, read.FindTree("t")!.Count);
        Assert.Empty(again.Check(Token).Problems);
    }

    [Fact]
    public async Task A_full_disk_during_a_sync_sets_the_command_back_until_a_checkpoint_has_run()
    {
        Task a = BeginHeldWrite("a");
        int refusals = 0;
        _files.OnAllocate = name =>
        {
            if (name == "data.treepie" && refusals++ == 0)
                throw new DiskFullException("No room.");
        };
        Task<bool> b = _environment.WriteAsync(transaction => transaction.FindTree("t")!.Put("b"u8, new byte[4 << 20]), Token)
            .AsTask();
        Task<bool> c = _environment.WriteAsync(transaction => transaction.FindTree("t")!.Put("c"u8, "c"u8), Token).AsTask();
        Assert.Equal(1, refusals);
        _isReleased.Set();
        await a;
        Assert.True(await b);
        Assert.True(await c);
        Assert.Equal("abcfirst", Keys());
        Assert.Empty(_environment.Check(Token).Problems);
    }

    [Fact]
    public async Task A_disk_that_stays_full_is_told_to_its_command_alone()
    {
        Task a = BeginHeldWrite("a");
        _files.OnAllocate = _ => throw new DiskFullException("No room.");
        Task<bool> b = _environment.WriteAsync(transaction => transaction.FindTree("t")!.Put("b"u8, new byte[4 << 20]), Token)
            .AsTask();
        Task<bool> c = _environment.WriteAsync(transaction => transaction.FindTree("t")!.Put("c"u8, "c"u8), Token).AsTask();
        _isReleased.Set();
        await a;
        await Assert.ThrowsAsync<DiskFullException>(() => b);
        Assert.True(await c);
        Assert.Equal("acfirst", Keys());
        Assert.Empty(_environment.Check(Token).Problems);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_caller_that_blocks_runs_its_own_command_again_where_the_disk_was_full(bool staysFull)
    {
        int refusals = 0;
        _files.OnAllocate = name =>
        {
            if (name == "data.treepie" && (refusals++ == 0 || staysFull))
                throw new DiskFullException("No room.");
        };
        Task<bool> alone = Task.Run(
            () => _environment.Write(transaction => transaction.FindTree("t")!.Put("b"u8, new byte[4 << 20]), Token), Token);
        Assert.Same(alone, await Task.WhenAny(alone, Task.Delay(Eventually.Patience, Token)));
        if (staysFull)
            await Assert.ThrowsAsync<DiskFullException>(() => alone);
        else
            Assert.True(await alone);
        Assert.Equal(staysFull ? "first" : "bfirst", Keys());
    }

    [Fact]
    public async Task A_checkpoint_begins_between_two_flushes_while_writers_keep_coming()
    {
        Task a = BeginHeldWrite("a");
        Task<bool> b = _environment.WriteAsync(transaction => transaction.FindTree("t")!.Put("b"u8, "b"u8), Token).AsTask();
        Task checkpoint = Task.Run(() => _environment.Checkpoint(Token), Token);
        Task[] others = [.. Enumerable.Range(0, 10).Select(i => Task.Run(() => Put(_environment, "x" + i), Token))];
        _isReleased.Set();
        await Task.WhenAll([a, b, checkpoint, .. others]);
        Assert.Equal(13, Count());
        Assert.Empty(_environment.Check(Token).Problems);
    }

    [Fact]
    public async Task A_command_that_has_run_cannot_be_cancelled_any_more()
    {
        Task a = BeginHeldWrite("a");
        using var cancel = new CancellationTokenSource();
        Task<bool> b = _environment.WriteAsync(transaction => transaction.FindTree("t")!.Put("b"u8, "b"u8), cancel.Token)
            .AsTask();
        await cancel.CancelAsync();
        Assert.False(b.IsCompleted);
        _isReleased.Set();
        await a;
        Assert.True(await b);
    }

    [Fact]
    public async Task Closing_while_a_sync_runs_keeps_what_has_run()
    {
        Task a = BeginHeldWrite("a");
        Task<bool> b = _environment.WriteAsync(transaction => transaction.FindTree("t")!.Put("b"u8, "b"u8), Token).AsTask();
        Task close = Task.Run(_environment.Dispose, Token);
        _isReleased.Set();
        await Task.WhenAll(a, b, close);
        _files.OnJournalSync = null;
        using StorageEnvironment again = StorageEnvironment.Open(_directory.Path);
        using ReadTransaction read = again.BeginRead();
        Assert.Equal(3, read.FindTree("t")!.Count);
        Assert.Empty(again.Check(Token).Problems);
    }

    [Fact]
    public void On_one_thread_a_sync_can_submit_commands_and_all_become_durable_in_order()
    {
        int seed = Seed.Next();
        for (int run = 0; run < 20; run++)
        {
            var random = new Random(unchecked(seed + run));
            var disk = new SimulatedDisk(random);
            var files = new WatchedFiles(disk);
            var model = new Model();
            var workload = new Workload(random, new WorkloadShape { Keys = 300, MaxSteps = 20, MaxValueBytes = 20_000 });
            using (StorageEnvironment environment = StorageEnvironment.Open(
                new World(files, TimeProvider.System, random, false), SmallDisk.Options))
            {
                var pending = new List<Task<bool>>();
                int left = 60;
                files.OnJournalSync = _ =>
                {
                    for (int more = random.Next(3); more > 0 && left > 0; more--, left--)
                        pending.Add(environment.WriteAsync(workload.Next(model)).AsTask());
                };
                while (left-- > 0)
                {
                    environment.Write(workload.Next(model));
                    if (random.Next(10) == 0)
                        environment.Checkpoint(Token);
                }

                Assert.All(pending, task => Assert.True(task.IsCompletedSuccessfully));
                AssertHolds(environment, model);
                disk.CrashAt = disk.Operations; // so that closing writes no checkpoint
            }

            disk.Crash();
            using StorageEnvironment again = StorageEnvironment.Open(
                new World(disk, TimeProvider.System, random, false), SmallDisk.Options);
            AssertHolds(again, model);
        }
    }

    [Fact]
    public void On_one_thread_waiting_inside_a_sync_is_refused_instead_of_hanging()
    {
        var random = new Random(2);
        var files = new WatchedFiles(new SimulatedDisk(random));
        using StorageEnvironment environment = StorageEnvironment.Open(
            new World(files, TimeProvider.System, random, false), new StorageOptions { MaxDataFileBytes = 64 << 20 });
        Put(environment, "first");
        var errors = new List<Exception>();
        files.OnJournalSync = _ =>
        {
            files.OnJournalSync = null;
            errors.Add(Assert.Throws<InvalidOperationException>(() => environment.Checkpoint(Token)));
            errors.Add(Assert.Throws<InvalidOperationException>(() => Put(environment, "inside")));
        };
        Put(environment, "second");
        Assert.Equal(2, errors.Count);
        Put(environment, "third");
        using ReadTransaction read = environment.BeginRead();
        Assert.Equal(3, read.FindTree("t")!.Count);
        Assert.False(read.FindTree("t")!.Contains("inside"u8), "A write that was refused has happened.");
    }

    [Fact]
    public async Task Many_clients_of_both_kinds_with_failing_and_idle_commands_and_checkpoints_leave_what_they_were_told()
    {
        const int Clients = 24, Rounds = 40;
        var random = new Random(Seed.Next());
        int[] seeds = [.. Enumerable.Range(0, Clients).Select(_ => random.Next())];
        var counts = new int[Clients];
        Task[] clients = [.. Enumerable.Range(0, Clients).Select(client => Task.Run(async () =>
        {
            var draw = new Random(seeds[client]);
            for (int round = 0; round < Rounds; round++)
            {
                int action = draw.Next(10);
                Func<WriteTransaction, bool> command = action switch
                {
                    0 => _ => throw new FormatException("on purpose"),
                    1 => transaction => transaction.FindTree("t") is not null,
                    _ => transaction => Add(transaction, client),
                };
                try
                {
                    if (client % 2 == 0)
                        _environment.Write(command, Token);
                    else
                        await _environment.WriteAsync(command, Token);
                    if (action > 1)
                        counts[client]++;
                }
                catch (FormatException)
                {
                    Assert.Equal(0, action);
                }

                using (ReadTransaction read = _environment.BeginRead())
                    Assert.Equal(counts[client], Read(read, client));
                if (client == 0 && round % 8 == 0)
                    _environment.Checkpoint(Token);
            }
        }, Token))];
        await Task.WhenAll(clients);
        Assert.Empty(_environment.Check(Token).Problems);

        static bool Add(WriteTransaction transaction, int client)
        {
            byte[] key = BitConverter.GetBytes(client);
            Treepie.Storage.Trees.Tree tree = transaction.GetOrCreateTree("counts");
            int value = tree.TryGet(key, out ReadOnlySpan<byte> old) ? BitConverter.ToInt32(old) : 0;
            BitConverter.TryWriteBytes(tree.Reserve(key, 600), value + 1);
            return true;
        }

        static int Read(ReadTransaction read, int client) =>
            read.FindTree("counts") is { } tree && tree.TryGet(BitConverter.GetBytes(client), out ReadOnlySpan<byte> value)
                ? BitConverter.ToInt32(value)
                : 0;
    }

    /// <summary>Starts a blocking write on another thread. When this returns, the write is in its sync, until released.</summary>
    private Task BeginHeldWrite(string key)
    {
        _files.OnJournalSync = name =>
        {
            if (name != FileInUse)
                return; // a spare file that is being created

            _isSyncing.Set();
            _isReleased.Wait(Token);
            if (_syncError is { } error)
                throw error;
        };
        Task write = Task.Run(() => Put(_environment, key), Token);
        _isSyncing.Wait(Token);
        return write;
    }

    private static void Put(StorageEnvironment environment, string key) =>
        environment.Write(
            transaction => transaction.GetOrCreateTree("t").Put(System.Text.Encoding.UTF8.GetBytes(key), "value"u8));

    private string Keys()
    {
        using ReadTransaction read = _environment.BeginRead();
        using Treepie.Storage.Trees.Cursor cursor = read.FindTree("t")!.OpenCursor();
        string keys = "";
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
            keys += System.Text.Encoding.UTF8.GetString(cursor.Key);
        return keys;
    }

    private long Count()
    {
        using ReadTransaction read = _environment.BeginRead();
        return read.FindTree("t")!.Count;
    }

    private static void AssertHolds(StorageEnvironment environment, Model model)
    {
        using ReadTransaction read = environment.BeginRead();
        model.AssertEqual(read);
        Assert.Empty(environment.Check(Token).Problems);
    }
}
