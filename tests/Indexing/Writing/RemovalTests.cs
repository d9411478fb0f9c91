using System.Text;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Tests.Model;
using Treepie.Indexing.Vectors;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Writing;

/// <summary>What is left of entries with fields of every kind when all of them are gone, in whatever order they go.</summary>
public sealed class RemovalTests
{
    [Fact]
    public void The_last_entry_gone_leaves_no_record_of_any_entry()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var data = new RandomData(random);
        using StorageEnvironment environment = MemoryEnvironment.Open();
        var writer = new IndexWriter(environment, RandomChanges.Schema);
        IndexBatch batch = writer.BeginBatch();
        long etag = 0;
        for (int round = 0; round < 6; round++)
        {
            string[] keys = [.. Enumerable.Range(0, random.Next(1, 400)).Select(static i => $"docs/{i}")];
            foreach (string key in keys)
            {
                RandomChanges.Next(random, data, key)(batch);
                if (random.Next(40) == 0)
                    writer.Commit(batch, ++etag, TestContext.Current.CancellationToken);
            }

            random.Shuffle(keys);
            foreach (string key in keys)
            {
                batch.Delete(Encoding.UTF8.GetBytes(key));
                if (random.Next(60) == 0)
                    writer.Commit(batch, ++etag, TestContext.Current.CancellationToken);
            }

            writer.Commit(batch, ++etag, TestContext.Current.CancellationToken);
            using ReadTransaction read = environment.BeginRead();
            int vectors = RandomChanges.Schema.Fields.Count - 1;
            string links = TreeNames.Links(vectors);
            Assert.Equal(
                [$"{links} 1"],
                read.TreeNames.Where(static name => name != TreeNames.Index)
                    .Select(name => $"{name} {read.FindTree(name)?.Count}")
                    .Where(static tree => !tree.EndsWith(" 0", StringComparison.Ordinal)));
            var state = VectorState.Read(read.FindTree(links)); // the one record of this tree
            Assert.Equal((0L, VectorState.NoNode), (state.Count, state.Entry));
            Assert.Equal(0, IndexState.Read(read.FindTree(TreeNames.Index)).EntryCount);
            for (int field = 0; field < RandomChanges.Schema.Fields.Count; field++)
            {
                FieldStatistics statistics = FieldStatistics.Read(read.FindTree(TreeNames.Index), field);
                Assert.Equal((0L, 0L), (statistics.TotalTerms, statistics.EntriesWithTerms));
            }
        }
    }
}
