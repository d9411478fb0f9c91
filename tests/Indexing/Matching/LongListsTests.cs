using System.Text;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Tests.Matching;

/// <summary>
/// Long lists of which any may match: read window by window as long as few windows are needed, and gathered into one bitmap
/// from then on.
/// </summary>
public sealed class LongListsTests(LongListsTests.Years years) : IClassFixture<LongListsTests.Years>
{
    private const int Entries = 300_000, First = 1900;
    private const string Question = "how to read the lists";

    [Theory]
    [InlineData(2, false)]
    [InlineData(2, true)]
    [InlineData(20, false)]
    [InlineData(20, true)]
    [InlineData(90, true)] // more long lists than are left apart
    public void Any_of_long_lists_finds_what_a_scan_finds(int many, bool asList)
    {
        IndexQuery any = Any(many, asList);
        AssertPages(any, id => years.Of[id] < First + many);
        AssertPages(new NotQuery(any), id => years.Of[id] >= First + many);
        AssertPages(new AndQuery([any, Rare]), id => years.Of[id] < First + many && IsRare(id));
        AssertPages(new OrQuery([any, Rare]), id => years.Of[id] < First + many || IsRare(id));
    }

    [Fact]
    public void A_page_that_is_not_counted_stops_after_its_last_hit()
    {
        SearchResults page = Search(Any(20, asList: true), skip: 0, take: 25, countsHits: false, out _);
        Assert.Equal(25, page.Count);
        Assert.False(page.IsTotalExact);
        Assert.InRange(page.TotalCount, 25, Entries / 10);
        Assert.InRange(page.Counters.EntriesScanned, 0, Entries / 10);

        SearchResults last = Search(new AndQuery([Any(20, asList: true), Rare]), skip: 0, take: 1_000, countsHits: false, out _);
        Assert.True(last.IsTotalExact);
        Assert.Equal(last.Count, last.TotalCount);
    }

    [Fact]
    public void The_plan_says_whether_the_lists_were_gathered()
    {
        IndexQuery any = Any(20, asList: false);
        _ = Search(any, skip: 0, take: 25, countsHits: false, out PlanNode page);
        Assert.DoesNotContain(Decisions(page), decision => decision.Question == Question);
        _ = Search(any, skip: 0, take: 25, countsHits: true, out PlanNode counted);
        AssertGathered(counted, "all matches are needed");
        _ = Search(any, skip: 0, take: 25, countsHits: false, out PlanNode sorted, _byYear);
        AssertGathered(sorted, "all matches are needed");
        _ = Search(new AndQuery([any, new NotQuery(Rare)]), skip: 0, take: 25, countsHits: true, out PlanNode narrowed);
        AssertGathered(narrowed, "more than 4 windows were needed");
    }

    private static readonly SortKey[] _byYear = [new("year", SortKind.Long, Descending: true)];

    private static TermQuery Rare => new("rare", FieldValue.Of("yes"));

    private static bool IsRare(int id) => id % 30_011 == 7;

    private static IndexQuery Any(int many, bool asList)
    {
        FieldValue[] values = [.. Enumerable.Range(First, many).Select(static year => FieldValue.Of(year))];
        return asList
            ? new InQuery("year", values)
            : new OrQuery([.. values.Select(static value => new TermQuery("year", value))]);
    }

    private static IEnumerable<PlanDecision> Decisions(PlanNode node) =>
        node.Decisions.Concat(node.Children.SelectMany(Decisions));

    private void AssertPages(IndexQuery query, Func<int, bool> matches)
    {
        long[] expected = [.. Enumerable.Range(0, Entries).Where(matches).Select(static id => (long)id)];
        foreach ((int skip, int take) in ((int, int)[])[(0, int.MaxValue), (0, 0), (0, 25), (expected.Length / 2, 40)])
        {
            SearchResults counted = Search(query, skip, take, countsHits: true, out _);
            Assert.Equal(expected.Length, counted.TotalCount);
            Assert.Equal(expected.Skip(skip).Take(take), Ids(counted));
            Assert.Equal(expected.Skip(skip).Take(take), Ids(Search(query, skip, take, countsHits: false, out _)));
            SearchResults sorted = Search(query, skip, Math.Min(take, 1_000), countsHits: false, out _, _byYear);
            Assert.Equal(expected.Length, sorted.TotalCount);
            Assert.Equal(expected.OrderByDescending(id => years.Of[id]).Skip(skip).Take(Math.Min(take, 1_000)), Ids(sorted));
        }
    }

    private static List<long> Ids(SearchResults results)
    {
        var ids = new List<long>();
        while (results.MoveNext())
            ids.Add(results.EntryId);
        return ids;
    }

    private static void AssertGathered(PlanNode plan, string reason)
    {
        PlanDecision decision = Assert.Single(Decisions(plan), decision => decision.Question == Question);
        Assert.Equal(("gathered into one bitmap", reason), (decision.Chosen, decision.Reason));
    }

    private SearchResults Search(
        IndexQuery query, int skip, int take, bool countsHits, out PlanNode plan, SortKey[]? order = null)
    {
        using var searcher = new IndexSearcher(years.Store.Environment);
        SearchResults results = searcher.Search(
            new SearchRequest { Query = query, Skip = skip, Take = take, CountsHits = countsHits, Sort = order ?? [] },
            new QueryOptions { Plan = PlanDetail.Counts }, TestContext.Current.CancellationToken);
        plan = results.Plan ?? throw new InvalidOperationException("There is no plan.");
        return results;
    }

    /// <summary>An index of entries with a random year of a hundred, some of which are rare.</summary>
    public sealed class Years : IDisposable
    {
        public Years()
        {
            var random = new Random(20261129);
            var writer = new IndexWriter(
                Store.Environment, new IndexSchema([new IndexField("year"), new IndexField("rare", FieldAnalysis.Keyword)]));
            IndexBatch batch = writer.BeginBatch();
            for (int id = 0; id < Entries; id++)
            {
                batch.BeginEntry(Encoding.UTF8.GetBytes($"docs/{id}"));
                batch.AddLong(0, Of[id] = First + random.Next(100));
                if (IsRare(id))
                    batch.AddText(1, "yes"u8);
                batch.EndEntry();
            }

            writer.Commit(batch, 1);
        }

        internal TemporaryStore Store { get; } = new();

        /// <summary>The year of each entry.</summary>
        public int[] Of { get; } = new int[Entries];

        public void Dispose() => Store.Dispose();
    }
}
