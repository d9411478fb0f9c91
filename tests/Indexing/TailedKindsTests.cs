using System.Text;
using Treepie.Indexing.Tests.Model;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>
/// Places, vectors, merged lists and similar entries over an index and its changes: the answers are those of an index into which
/// everything was written at once.
/// </summary>
public sealed class TailedKindsTests
{
    [Fact]
    public void Fields_of_every_kind_answer_over_an_index_and_its_changes_as_in_one_index()
    {
        var random = new Random(Seed.Next());
        var data = new EveryKind(random);
        for (int round = 0; round < 6; round++)
        {
            using StorageEnvironment split = MemoryEnvironment.Open(), whole = MemoryEnvironment.Open();
            var entries = new List<EveryKind.Entry>();
            var writer = new IndexWriter(split, EveryKind.Schema);
            IndexBatch batch = writer.BeginBatch();
            for (int commit = round == 0 ? 0 : 3; commit > 0; commit--)
            {
                Change(random, data, entries, batch, random.Next(80));
                writer.Commit(batch, 4 - commit, TestContext.Current.CancellationToken);
            }

            using var searcher = new IndexSearcher(split);
            using var tail = new IndexTail(searcher);
            IndexBatch changes = tail.BeginBatch();
            Change(random, data, entries, changes, random.Next(60));
            tail.Fill(changes, TestContext.Current.CancellationToken);

            var other = new IndexWriter(whole, EveryKind.Schema);
            batch = other.BeginBatch();
            foreach (EveryKind.Entry entry in entries)
                entry.Put(batch);
            other.Commit(batch, 1, TestContext.Current.CancellationToken);
            using var one = new IndexSearcher(whole);
            for (int i = 0; i < 150; i++)
                EveryKind.Compare(one, searcher, data.Request(), tail);
        }
    }

    /// <summary>Puts and deletes entries; the list has those that exist, in the order in which they were put last.</summary>
    private static void Change(
        Random random, EveryKind data, List<EveryKind.Entry> entries, IndexBatch batch, int changes)
    {
        for (int i = 0; i < changes; i++)
        {
            string key = "docs/" + random.Next(90);
            entries.RemoveAll(entry => entry.Key == key);
            if (random.Next(4) == 0)
            {
                batch.Delete(Encoding.UTF8.GetBytes(key));
                continue;
            }

            entries.Add(data.Draw(key));
            entries[^1].Put(batch);
        }
    }
}
