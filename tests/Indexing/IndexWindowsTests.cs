using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>More entries than fit one window of 4,096, and than fit a super-window of 64 windows.</summary>
public sealed class IndexWindowsTests
{
    private static readonly IndexSchema _schema = new(
        [new IndexField("group"), new IndexField("number"), new IndexField("text", FieldAnalysis.FullText)]);

    [Fact]
    public void Lists_of_every_density_answer_exactly_across_hundreds_of_thousands_of_entries()
    {
        const int Count = 310_000;
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();

        // Dense, middling, sparse and very sparse lists; the numbers are all different.
        int[] group = [
            .. Enumerable.Range(0, Count)
                .Select(i => i % 3 == 0 ? 0 : i % 40 == 1 ? 1 : i % 5_000 == 7 ? 2 : i % 100_000 == 9 ? 3 : 4)];
        int[] number = [.. Enumerable.Range(0, Count).OrderBy(_ => random.Next())];
        for (int i = 0; i < Count; i++)
        {
            Put(batch, i, group[i], number[i]);
            if (batch.Count == 70_000)
                writer.Commit(batch, i, TestContext.Current.CancellationToken);
        }

        writer.Commit(batch, Count, TestContext.Current.CancellationToken);
        bool[] alive = [.. Enumerable.Repeat(true, Count)];
        Check(store.Environment, group, number, alive);

        // Whole windows go, and single entries everywhere.
        for (int i = 0; i < Count; i++)
        {
            if (i is (>= 8_192 and < 20_000) or > 300_000 || random.Next(50) == 0)
            {
                alive[i] = false;
                batch.Delete(Key(i));
            }
        }

        writer.Commit(batch, Count + 1, TestContext.Current.CancellationToken);
        Check(store.Environment, group, number, alive);
        Assert.Empty(store.Environment.Check(TestContext.Current.CancellationToken).Problems);
    }

    [Fact]
    public void A_list_shrinks_to_nothing_and_grows_again()
    {
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        for (int round = 0; round < 3; round++)
        {
            for (int i = 0; i < 9_000; i++)
                Put(batch, i, 0, i);
            writer.Commit(batch, round, TestContext.Current.CancellationToken);
            using (var searcher = new IndexSearcher(store.Environment))
            {
                Assert.Equal(9_000, Count(searcher, new TermQuery("group", FieldValue.Of("g0"))));
                Assert.Equal(9_000, Count(searcher, new MatchAllQuery()));
            }

            for (int i = 0; i < 9_000; i++)
                batch.Delete(Key(i));
            writer.Commit(batch, round, TestContext.Current.CancellationToken);
            using (var searcher = new IndexSearcher(store.Environment))
            {
                Assert.Equal(0, Count(searcher, new TermQuery("group", FieldValue.Of("g0"))));
                Assert.Equal(0, Count(searcher, new NotQuery(new MatchNoneQuery())));
                Assert.Equal(0, searcher.EntryCount);
            }
        }
    }

    private static void Check(StorageEnvironment environment, int[] group, int[] number, bool[] alive)
    {
        using var searcher = new IndexSearcher(environment);
        int[] entries = [.. Enumerable.Range(0, group.Length).Where(i => alive[i])];
        Assert.Equal(entries.Length, searcher.EntryCount);
        CheckPage(searcher, new MatchAllQuery(), entries);
        for (int g = 0; g < 5; g++)
        {
            var term = new TermQuery("group", FieldValue.Of("G" + g));
            CheckPage(searcher, term, [.. entries.Where(i => group[i] == g)]);
            CheckPage(searcher, new NotQuery(term), [.. entries.Where(i => group[i] != g)]);
            var range = new RangeQuery("number", FieldValue.Of(1_000L), true, FieldValue.Of(100_000L), false);
            CheckPage(
                searcher, new AndQuery([term, range]),
                [.. entries.Where(i => group[i] == g && number[i] is >= 1_000 and < 100_000)]);
            CheckPage(
                searcher, new OrQuery([term, new TermQuery("number", FieldValue.Of((long)g))]),
                [.. entries.Where(i => group[i] == g || number[i] == g)]);
        }

        // Lists of all lengths in one bitmap: those of a pattern, and of a range of words.
        CheckPage(searcher, new PrefixQuery("group", "g"), entries);
        CheckPage(
            searcher, new RangeQuery("group", FieldValue.Of("g1"), true, FieldValue.Of("g4"), false),
            [.. entries.Where(i => group[i] is 1 or 2 or 3)]);
        CheckPage(
            searcher,
            new AndQuery(
                [new PrefixQuery("group", "g"), new NotQuery(
                    new RangeQuery("group", FieldValue.Of("g0"), true, FieldValue.Of("g3"), true))]),
            [.. entries.Where(i => group[i] == 4)]);

        CheckPage(
            searcher, new RangeQuery("number", FieldValue.Of(5_000L), true, null, true),
            [.. entries.Where(i => number[i] >= 5_000)]);

        // Wide ranges compare sort values instead of gathering numbers; bounds that are and are not among the numbers.
        foreach ((
            double low, bool lowIn, double high,
            bool highIn) in new[]
            {
                (10, true, 200_000, true), (10, false, 200_000, false), (9.5, false, 200_000.5, true), (-1e9, true, 1e300, false)
            })
        {
            bool Inside(int i) => (lowIn ? number[i] >= low : number[i] > low) && (highIn ? number[i] <= high : number[i] < high);
            var range = new RangeQuery("number", FieldValue.Of(low), lowIn, FieldValue.Of(high), highIn);
            CheckPage(searcher, range, [.. entries.Where(Inside)]);
            CheckPage(searcher, new NotQuery(range), [.. entries.Where(i => !Inside(i))]);
            CheckPage(
                searcher, new AndQuery([range, new TermQuery("group", FieldValue.Of("g2"))]),
                [.. entries.Where(i => group[i] == 2 && Inside(i))]);
            using SearchResults first = searcher.Search(
                new SearchRequest { Query = range, Sort = [new SortKey("number", SortKind.Long)], Take = 5 });
            Assert.Equal(
                entries.Where(Inside).OrderBy(i => number[i]).Take(5).Select(i => Encoding.UTF8.GetString(Key(i))),
                IndexFixture.Read(first));
        }

        CheckPage(searcher, new FullTextQuery("text", "even third", All: true), [.. entries.Where(i => i % 6 == 0)]);
    }

    /// <summary>Compares the count alone, and total and a page in id order.</summary>
    private static void CheckPage(IndexSearcher searcher, IndexQuery query, int[] expected)
    {
        Assert.Equal(expected.Length, Count(searcher, query));
        int skip = expected.Length / 2;
        using (SearchResults page = searcher.Search(new SearchRequest { Query = query, Skip = skip, Take = 20 }))
        {
            Assert.Equal(expected.Length, page.TotalCount);
            Assert.Equal(expected.Skip(skip).Take(20).Select(i => Encoding.UTF8.GetString(Key(i))), IndexFixture.Read(page));
        }
    }

    private static long Count(IndexSearcher searcher, IndexQuery query)
    {
        using SearchResults results = searcher.Search(new SearchRequest { Query = query, Take = 0 });
        return results.TotalCount;
    }

    private static void Put(IndexBatch batch, int i, int group, int number)
    {
        batch.BeginEntry(Key(i));
        batch.AddText(0, Encoding.UTF8.GetBytes("G" + group));
        batch.AddLong(1, number);
        batch.AddText(2, i % 6 == 0 ? "even third"u8 : i % 2 == 0 ? "even even"u8 : i % 3 == 0 ? "third"u8 : "other"u8);
        batch.EndEntry();
    }

    private static byte[] Key(int i) => Encoding.UTF8.GetBytes("entries/" + i);
}
