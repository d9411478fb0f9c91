using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Terms;
using Treepie.Indexing.Tests.Model;
using Treepie.Indexing.Writing;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Writing;

/// <summary>
/// Commits that end somewhere in the middle leave nothing behind: neither in the store nor in the buffers that the next commit
/// uses. A commit ends where it misses a record that the test has taken away, or by cancellation.
/// </summary>
public sealed class FailedCommitTests
{
    [Fact]
    public void A_store_whose_commits_failed_again_and_again_is_to_the_byte_one_whose_commits_did_not()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var data = new RandomData(random);
        using StorageEnvironment tried = MemoryEnvironment.Open(), plain = MemoryEnvironment.Open();
        IndexWriter writer = new(tried, RandomChanges.Schema), other = new(plain, RandomChanges.Schema);
        IndexBatch batch = writer.BeginBatch(), same = other.BeginBatch();
        CommitMemory memory = new(), memoryOfOther = new();
        int failures = 0, places = 0;
        for (int round = 1; round <= 25; round++)
        {
            for (int i = random.Next(1, 60); i > 0; i--)
            {
                Action<IndexBatch> change = RandomChanges.Next(random, data, $"docs/{random.Next(90)}");
                change(batch);
                change(same);
            }

            List<string> before = StoreContent.Of(tried);
            var ends = new HashSet<string>();
            for (int attempt = 0; attempt < 12; attempt++)
            {
                Exception end = Assert.ThrowsAny<Exception>(() => tried.Write(transaction =>
                {
                    using var stop = new CancellationTokenSource();
                    if (attempt == 0)
                        stop.Cancel();
                    else
                        TakeSomethingAway(transaction, random);
                    BatchCommit.Run(transaction, RandomChanges.Schema, batch, round, memory, stop.Token);
                    return Undo();
                }, TestContext.Current.CancellationToken));
                Assert.True(
                    end is CorruptionException or OperationCanceledException or UndoneException,
                    $"seed {seed}, round {round}, attempt {attempt}: {end}");
                failures += end is UndoneException ? 0 : 1;
                ends.Add(end.Message);
            }

            places = Math.Max(places, ends.Count);
            Assert.True(before.SequenceEqual(StoreContent.Of(tried)), $"seed {seed}, round {round}");
            Commit(tried, batch, round, memory);
            Commit(plain, same, round, memoryOfOther);
            Assert.True(StoreContent.Of(tried).SequenceEqual(StoreContent.Of(plain)), $"seed {seed}, round {round}");
        }

        Assert.True(failures > 50 && places > 2, $"seed {seed}: {failures} failures, in {places} places of one commit");
    }

    private static void Commit(StorageEnvironment environment, IndexBatch batch, long etag, CommitMemory memory)
    {
        environment.Write(
            transaction => BatchCommit.Run(transaction, RandomChanges.Schema, batch, etag, memory, CancellationToken.None),
            TestContext.Current.CancellationToken);
        batch.Clear();
    }

    /// <summary>Removes a record of the index, which this commit may need or not.</summary>
    private static void TakeSomethingAway(WriteTransaction transaction, Random random)
    {
        string[] names = [.. transaction.TreeNames.Where(static name => name != TreeNames.Index)];
        if (random.Next(2) == 0)
            names = [.. names.Where(static name => name.StartsWith("terms", StringComparison.Ordinal))];
        if (names.Length == 0)
            return;
        Tree tree = transaction.GetOrCreateTree(names[random.Next(names.Length)]);
        using Cursor cursor = tree.OpenCursor();
        if (!cursor.MoveFirst())
            return;
        for (long steps = random.NextInt64(tree.Count); steps > 0; steps--)
            Assert.True(cursor.MoveNext());
        byte[] key = cursor.Key.ToArray();
        if (!key.AsSpan().SequenceEqual(TermTree.CountKey))
            tree.Delete(key);
    }

    private static bool Undo() => throw new UndoneException();

    private sealed class UndoneException : Exception;
}
