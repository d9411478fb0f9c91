using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests;

public sealed class MergingTests : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void A_command_that_throws_is_undone_alone_and_the_others_of_its_batch_proceed()
    {
        var random = new Random(Seed.Next());
        var model = new Model();
        var workload = new Workload(random, new WorkloadShape { Keys = 1500 });
        using StorageEnvironment environment = StorageEnvironment.Open(
            _directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        for (int batch = 0; batch < 60; batch++)
        {
            var tasks = new List<(Task<bool> Task, bool Fails)>();
            long before = 0;
            environment.Commits.RunExclusive(() =>
            {
                using (ReadTransaction read = environment.BeginRead())
                    before = read.TransactionId;
                for (int i = 0; i < 12; i++)
                {
                    bool fails = random.Next(3) == 0;
                    Func<WriteTransaction, bool> command = workload.Next(fails ? model.Copy() : model);
                    tasks.Add(
                        (environment.WriteAsync(
                            transaction => command(transaction) && (fails ? throw new FormatException("on purpose") : true))
                                .AsTask(), fails));
                }
            });
            foreach ((Task<bool> task, bool fails) in tasks)
            {
                ((IAsyncResult)task).AsyncWaitHandle.WaitOne();
                Assert.Equal(fails, task.IsFaulted && task.Exception.InnerException is FormatException);
            }

            using ReadTransaction after = environment.BeginRead();
            Assert.Equal(before + tasks.Count(task => !task.Fails), after.TransactionId);
            model.AssertEqual(after);
            Assert.Empty(environment.Check().Problems);
        }
    }

    [Fact]
    public async Task Many_writers_and_readers_see_whole_commits_only()
    {
        const int Writers = 6, Readers = 4, Rounds = 60, Cells = 40;
        using StorageEnvironment environment = StorageEnvironment.Open(
            _directory.Path, new StorageOptions { MaxJournalFileBytes = 1 << 20, ScratchBudgetBytes = 1 << 20 });
        environment.Write(transaction => Add(transaction, 0));
        using var stop = new CancellationTokenSource();

        // Every commit increments each cell, so in any snapshot all cells are equal, and equal to the number of commits
        // before it.
        Task[] readers = [.. Enumerable.Range(0, Readers).Select(_ => Task.Run(() =>
        {
            long last = 0;
            while (!stop.IsCancellationRequested)
            {
                using ReadTransaction read = environment.BeginRead();
                Tree tree = read.FindTree("cells")!;
                long[] values = [.. Enumerable.Range(0, Cells).Select(cell => Read(tree, cell))];
                Assert.All(values, value => Assert.Equal(values[0], value));
                Assert.Equal(read.TransactionId - 1, values[0]);
                Assert.True(values[0] >= last, "Later snapshots are not older.");
                last = values[0];
            }
        }))];
        Task[] writers = [.. Enumerable.Range(0, Writers).Select(writer => Task.Run(async () =>
        {
            for (int i = 0; i < Rounds; i++)
            {
                if (writer % 2 == 0)
                    environment.Write(transaction => Add(transaction, 1));
                else
                    await environment.WriteAsync(transaction => Add(transaction, 1));
                if (i % 20 == 10 && writer == 0)
                    environment.Checkpoint();
            }
        }))];
        await Task.WhenAll(writers);
        await stop.CancelAsync();
        await Task.WhenAll(readers);

        using ReadTransaction end = environment.BeginRead();
        Assert.Equal(Writers * Rounds, Read(end.FindTree("cells")!, 7));
        Assert.Empty(environment.Check().Problems);

        static long Read(Tree tree, int cell) =>
            tree.TryGet(BitConverter.GetBytes(cell), out ReadOnlySpan<byte> value) ? BitConverter.ToInt64(value) : -1;

        static bool Add(WriteTransaction transaction, long more)
        {
            Tree tree = transaction.GetOrCreateTree("cells");
            for (int cell = 0; cell < Cells; cell++)
            {
                long value = tree.TryGet(BitConverter.GetBytes(cell), out ReadOnlySpan<byte> old) ? BitConverter.ToInt64(old) : 0;
                // Long enough that the cells are on many pages.
                BitConverter.TryWriteBytes(tree.Reserve(BitConverter.GetBytes(cell), 1500), value + more);
            }

            return true;
        }
    }

    [Fact]
    public void A_tree_that_was_dropped_or_whose_command_has_returned_refuses_changes()
    {
        using StorageEnvironment environment = StorageEnvironment.Open(
            _directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        Tree? kept = null;
        environment.Write(transaction =>
        {
            kept = transaction.GetOrCreateTree("kept");
            kept.Put("a"u8, "b"u8);
            Tree dropped = transaction.GetOrCreateTree("dropped");
            dropped.Put("a"u8, "b"u8);
            transaction.DropTree("dropped");
            Assert.Throws<InvalidOperationException>(() => dropped.Put("c"u8, "d"u8));
            return true;
        });
        Assert.Throws<InvalidOperationException>(() => kept!.Put("c"u8, "d"u8));
        Assert.Empty(environment.Check().Problems);
    }

    [Fact]
    public async Task A_waiting_command_that_is_cancelled_changes_nothing()
    {
        using StorageEnvironment environment = StorageEnvironment.Open(_directory.Path);
        using var cancel = new CancellationTokenSource();
        Task<bool>? cancelled = null;
        environment.Commits.RunExclusive(() =>
        {
            cancelled = environment.WriteAsync(transaction => transaction.GetOrCreateTree("t").Put("a"u8, "b"u8), cancel.Token)
                .AsTask();
            cancel.Cancel();
        });
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled!);
        Assert.True(environment.Write(transaction => transaction.FindTree("t") is null));
    }
}
