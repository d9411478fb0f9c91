using Treepie.Indexing.Tests.Model;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

public sealed class IndexBatchTests
{
    [Fact]
    public void Batches_put_together_are_to_the_byte_what_one_is()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var data = new RandomData(random);
        using StorageEnvironment whole = MemoryEnvironment.Open(), together = MemoryEnvironment.Open();
        var one = new IndexWriter(whole, RandomChanges.Schema);
        var many = new IndexWriter(together, RandomChanges.Schema);
        IndexBatch batch = one.BeginBatch(), joined = many.BeginBatch(), part = many.BeginBatch();
        for (int round = 1; round <= 6; round++)
        {
            for (int left = random.Next(1, 12); left > 0; left--)
            {
                for (int i = random.Next(40); i > 0; i--)
                {
                    Action<IndexBatch> change = RandomChanges.Next(random, data, $"docs/{random.Next(120)}");
                    change(batch);
                    change(part);
                }

                joined.Append(part);
                part.Clear();
                Assert.Equal((batch.Count, batch.SizeBytes), (joined.Count, joined.SizeBytes));
            }

            one.Commit(batch, round, TestContext.Current.CancellationToken);
            many.Commit(joined, round, TestContext.Current.CancellationToken);
            Assert.True(StoreContent.Of(whole).SequenceEqual(StoreContent.Of(together)), $"seed {seed}, round {round}");
        }
    }

    /// <summary>Threads fill batches of their own at the same time, which share the writer's analyzers and dimensions.</summary>
    [Fact]
    public async Task Batches_that_threads_fill_at_once_are_together_to_the_byte_what_one_is()
    {
        const int Threads = 4, Changes = 150;
        int seed = Seed.Next();
        var random = new Random(seed);
        var data = new RandomData(random);
        using StorageEnvironment whole = MemoryEnvironment.Open(), together = MemoryEnvironment.Open();
        var one = new IndexWriter(whole, RandomChanges.Schema);
        var many = new IndexWriter(together, RandomChanges.Schema);
        IndexBatch batch = one.BeginBatch(), joined = many.BeginBatch();
        IndexBatch[] parts = [.. Enumerable.Range(0, Threads).Select(_ => many.BeginBatch())];
        for (int round = 1; round <= 5; round++)
        {
            Action<IndexBatch>[][] changes =
            [
                .. Enumerable.Range(0, Threads).Select(
                    _ => Enumerable.Range(0, random.Next(Changes))
                        .Select(_ => RandomChanges.Next(random, data, $"docs/{random.Next(200)}")).ToArray()),
            ];
            await Task.WhenAll(
                Enumerable.Range(0, Threads).Select(
                    thread => Task.Run(
                        () => Array.ForEach(changes[thread], change => change(parts[thread])),
                        TestContext.Current.CancellationToken)));
            foreach (Action<IndexBatch> change in changes.SelectMany(part => part))
                change(batch);
            foreach (IndexBatch part in parts)
            {
                joined.Append(part);
                part.Clear();
            }

            one.Commit(batch, round, TestContext.Current.CancellationToken);
            many.Commit(joined, round, TestContext.Current.CancellationToken);
            Assert.True(StoreContent.Of(whole).SequenceEqual(StoreContent.Of(together)), $"seed {seed}, round {round}");
        }
    }

    [Fact]
    public void A_batch_takes_no_other_of_another_index_nor_itself()
    {
        using StorageEnvironment first = MemoryEnvironment.Open(), second = MemoryEnvironment.Open();
        IndexBatch batch = new IndexWriter(first, RandomChanges.Schema).BeginBatch(),
            foreign = new IndexWriter(second, RandomData.Schema).BeginBatch();
        Assert.Throws<ArgumentException>(() => batch.Append(foreign));
        Assert.Throws<ArgumentException>(() => batch.Append(batch));
        IndexBatch open = new IndexWriter(first, RandomChanges.Schema).BeginBatch();
        open.BeginEntry("a"u8);
        Assert.Throws<InvalidOperationException>(() => batch.Append(open));
    }
}
