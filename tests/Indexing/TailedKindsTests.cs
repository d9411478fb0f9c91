using System.Text;
using Treepie.Indexing.Queries;
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

    /// <summary>
    /// Entries that a query leaves out are left out before the best are chosen, as those are that the changes replace.
    /// </summary>
    [Fact]
    public void Given_entries_that_are_excluded_take_no_place_among_the_best_of_an_index_and_its_changes()
    {
        var random = new Random(Seed.Next());
        var data = new EveryKind(random);
        using StorageEnvironment environment = MemoryEnvironment.Open();
        var writer = new IndexWriter(environment, EveryKind.Schema);
        var entries = new List<EveryKind.Entry>();
        IndexBatch batch = writer.BeginBatch();
        Change(random, data, entries, batch, 200);
        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        using var searcher = new IndexSearcher(environment);
        using var tail = new IndexTail(searcher);
        IndexBatch changes = tail.BeginBatch();
        Change(random, data, entries, changes, 40);
        tail.Fill(changes, TestContext.Current.CancellationToken);
        foreach (int kind in new[] { 7, 9 })
        {
            IndexQuery few;
            List<long> best;
            do
            {
                few = data.Leaf(kind) is VectorQuery vector ? vector with { Candidates = 5 } : data.Leaf(kind);
                best = Ask(few);
            }
            while (best.Count < 5); // an entry to be similar to may have no vector

            List<long> others = Ask(new AndQuery([few, new NotQuery(new EntriesQuery([.. best.Order()]))]));
            Assert.Empty(best.Intersect(others));
            Assert.True(others.Count > 0, $"no entries are left of {few}");
        }

        List<long> Ask(IndexQuery query)
        {
            var request = new SearchRequest { Query = query, Sort = [new SortKey("", SortKind.Score, Descending: true)] };
            using SearchResults results =
                searcher.Search(request, tail, cancellationToken: TestContext.Current.CancellationToken);
            var ids = new List<long>();
            while (results.MoveNext())
                ids.Add(results.EntryId);
            return ids;
        }
    }

    /// <summary>Pages, each behind the one before it, by number of hits and by position, are the whole order in pieces.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Pages_of_every_kind_of_order_are_the_whole_order(bool hasChanges)
    {
        var random = new Random(Seed.Next());
        var data = new EveryKind(random);
        using StorageEnvironment environment = MemoryEnvironment.Open();
        var writer = new IndexWriter(environment, EveryKind.Schema);
        var entries = new List<EveryKind.Entry>();
        IndexBatch batch = writer.BeginBatch();
        Change(random, data, entries, batch, 300);
        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        using var searcher = new IndexSearcher(environment);
        using var tail = new IndexTail(searcher);
        IndexBatch changes = tail.BeginBatch();
        Change(random, data, entries, changes, 50);
        tail.Fill(changes, TestContext.Current.CancellationToken);
        for (int i = 0; i < 120; i++)
        {
            SearchRequest request = data.Request() with { Skip = 0, Take = long.MaxValue };
            if (request.Sort.Count > 0 && random.Next(2) == 0)
                request = request with { Sort = [.. request.Sort, new SortKey("tag", SortKind.Text, random.Next(2) == 0)] };
            List<long> all = Ask(request, out _, out long total);
            string what = IndexFixture.Describe(request);
            Assert.True(total == all.Count, what);
            int page = random.Next(1, 20);
            List<long> skipped = [], behind = [];
            SearchRequest next = request with { Take = page, WithPosition = true };
            for (int skip = 0; skip <= all.Count + page; skip += page)
                skipped.AddRange(Ask(request with { Skip = skip, Take = page }, out _, out _));
            for (bool isMore = true; isMore;)
            {
                List<long> mine = Ask(next, out ReadOnlyMemory<byte> position, out long hits);
                Assert.True(hits == all.Count, $"{what}: {hits} hits behind {behind.Count}");
                behind.AddRange(mine);
                isMore = !position.IsEmpty;
                Assert.True(isMore == (mine.Count == page), what);
                next = next with { After = position };
            }

            Assert.True(all.SequenceEqual(skipped), $"{what}: {string.Join(' ', all)}\n{string.Join(' ', skipped)}");
            Assert.True(all.SequenceEqual(behind), $"{what}: {string.Join(' ', all)}\n{string.Join(' ', behind)}");
        }

        List<long> Ask(SearchRequest request, out ReadOnlyMemory<byte> position, out long total)
        {
            using SearchResults results = hasChanges
                ? searcher.Search(request, tail, cancellationToken: TestContext.Current.CancellationToken)
                : searcher.Search(request, TestContext.Current.CancellationToken);
            (position, total) = (results.Position, results.TotalCount);
            var ids = new List<long>();
            while (results.MoveNext())
                ids.Add(results.EntryId);
            return ids;
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
