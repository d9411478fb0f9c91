using System.Buffers.Binary;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests;

/// <summary>An environment without threads of its own serves many: who finds it led waits, as in any other.</summary>
public sealed class MemoryEnvironmentTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(2, false)]
    [InlineData(8, false)]
    [InlineData(2, true)]
    [InlineData(8, true)]
    public async Task Every_write_of_many_threads_is_answered_and_there(int threads, bool isAsync)
    {
        const int Writes = 10_000;
        using StorageEnvironment environment = MemoryEnvironment.Open();
        using var start = new Barrier(threads);
        await Task.WhenAll(Enumerable.Range(0, threads).Select(thread => Task.Factory.StartNew(
            () =>
            {
                start.SignalAndWait(Token);
                for (int i = 0; i < Writes; i++)
                {
                    byte[] key = Key(thread, i);
                    bool isNew = isAsync && i % 2 == 0
                        ? environment.WriteAsync(transaction => Put(transaction, key), Token).AsTask().GetAwaiter().GetResult()
                        : environment.Write(transaction => Put(transaction, key), Token);
                    Assert.True(isNew);
                    if (i % 1_000 == thread)
                        environment.Checkpoint(Token);
                }
            },
            Token,
            TaskCreationOptions.LongRunning,
            TaskScheduler.Default)));

        using (ReadTransaction read = environment.BeginRead())
        {
            Tree tree = read.FindTree("t")!;
            Assert.Equal((long)threads * Writes, tree.Count);
            for (int thread = 0; thread < threads; thread++)
                for (int i = 0; i < Writes; i++)
                    Assert.True(tree.Contains(Key(thread, i)));
        }

        Assert.Empty(environment.Check(Token).Problems);
    }

    [Fact]
    public void A_write_that_waits_inside_a_command_is_refused_and_does_not_happen()
    {
        using StorageEnvironment environment = MemoryEnvironment.Open();
        environment.Write(transaction =>
        {
            Assert.Throws<InvalidOperationException>(() => environment.Write(inner => Put(inner, "inside"u8.ToArray())));
            Assert.Throws<InvalidOperationException>(() => environment.Checkpoint(Token));
            return Put(transaction, "outside"u8.ToArray());
        }, Token);
        environment.Write(transaction => Put(transaction, "after"u8.ToArray()), Token);
        using ReadTransaction read = environment.BeginRead();
        Assert.Equal(2, read.FindTree("t")!.Count);
        Assert.False(read.FindTree("t")!.Contains("inside"u8));
    }

    [Fact]
    public async Task A_write_that_does_not_wait_runs_after_the_command_that_made_it()
    {
        using StorageEnvironment environment = MemoryEnvironment.Open();
        Task<bool>? inner = null;
        environment.Write(transaction =>
        {
            inner = environment.WriteAsync(later => Put(later, "inside"u8.ToArray()), Token).AsTask();
            return Put(transaction, "outside"u8.ToArray());
        }, Token);
        Assert.True(await inner!.WaitAsync(Eventually.Patience, Token)); // the command has run
        using ReadTransaction read = environment.BeginRead();
        Assert.Equal(2, read.FindTree("t")!.Count);
    }

    private static bool Put(WriteTransaction transaction, byte[] key) => transaction.GetOrCreateTree("t").Put(key, key);

    private static byte[] Key(int thread, int i)
    {
        byte[] key = new byte[2 * sizeof(int)];
        BinaryPrimitives.WriteInt32BigEndian(key, thread);
        BinaryPrimitives.WriteInt32BigEndian(key.AsSpan(sizeof(int)), i);
        return key;
    }
}
