using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;

namespace Treepie.Indexing.Tests.Searching;

/// <summary>
/// Each kind of search is made in the way that is meant for it. With one or two filters it finds what reading and sorting all hits
/// finds; if these are lists, which keep much, it still examines a small part of the entries.
/// </summary>
public sealed class FilteredPagesTests(FilteredPagesTests.Shop shop) : IClassFixture<FilteredPagesTests.Shop>
{
    private const int Entries = 120_000;
    private const int Take = 10;

    private static readonly SortKey _byScore = new("", SortKind.Score, Descending: true);
    private static readonly SortKey _byName = new("name", SortKind.Text);
    private static readonly SortKey _byNumber = new("number", SortKind.Double);
    private static readonly SortKey _byGroup = new("group", SortKind.Double);

    private static readonly Dictionary<string, (IndexQuery Query, SortKey[] Sort, string Way)> _searches = new()
    {
        ["all of two words"] = (new FullTextQuery("text", "w0 w2", All: true), [_byScore], "best hits"),
        ["any of two words"] = (new FullTextQuery("text", "w1 w2", All: false), [_byScore], "best hits"),
        ["any of four words"] = (new FullTextQuery("text", "w0 w5 w9 w30", All: false), [_byScore], "best hits"),
        ["one word"] = (new FullTextQuery("text", "w1", All: true), [_byScore], "best hits"),
        ["order by numbers"] = (new MatchAllQuery(), [_byNumber], "walk the values in order and probe"),
        ["order by texts, descending"] =
            (new MatchAllQuery(), [_byName with { Descending = true }], "walk the values in order and probe"),
        ["order by few values, then texts"] = (new MatchAllQuery(), [_byGroup, _byName], "walk the values in order and probe"),
        ["a word in the order of numbers"] =
            (new FullTextQuery("text", "w1", All: true), [_byNumber], "walk the values in order and probe"),
        ["equal, in an order with a compound key"] = (Group(3), [_byName], "walk a compound key"),
        ["equal, in an order without one"] = (Group(3), [_byNumber], "walk the values in order and probe"),
        ["a range in its own order"] = (Above("number", 20_000), [_byNumber], "walk the values in order and probe"),
        ["a range in another order"] = (Above("number", 20_000), [_byName], "walk the values in order and probe"),
        ["a range of texts"] = (From("n2"), [], "in the order of entries"),
        ["a prefix"] = (new PrefixQuery("name", "n"), [], "in the order of entries"),
        ["nearest"] =
            (new MatchAllQuery(), [new SortKey("place", SortKind.Distance, Centre: new GeoPoint(10, 20))], "nearest squares first"),
    };

    private static readonly Dictionary<string, IndexQuery> _filters = new()
    {
        ["a frequent value"] = Group(3, "half"),
        ["no rare value"] = new NotQuery(new TermQuery("group", FieldValue.Of(1L))),
        ["a range of numbers"] = Above("number", 30_000),
        ["a range of texts"] = From("n1"),
        ["a prefix"] = new PrefixQuery("name", "n"),
        ["a field"] = new ExistsQuery("half"),
        ["some values"] = new InQuery("group", [.. Enumerable.Range(0, 5).Select(static group => FieldValue.Of((long)group))]),
        ["either"] = new OrQuery([Group(3, "half"), Above("number", 60_000)]),
        ["no frequent word"] = new NotQuery(new FullTextQuery("text", "w3", All: true)),
    };

    /// <summary>Searches and filters that compare a value of each entry, thousands at a time if these are numbers.</summary>
    private static readonly string[] _compared =
        ["a range in another order", "a range of numbers", "a range of texts", "a prefix", "either"];

    public static TheoryData<string> Searches() => [.. _searches.Keys];

    [Theory]
    [MemberData(nameof(Searches))]
    public void A_search_is_made_as_planned(string name)
    {
        (IndexQuery query, SortKey[] sort, string way) = _searches[name];
        using SearchResults page = Search(query, sort);
        Assert.Equal(Take, page.Count);
        Assert.Equal(way, page.Plan?.Operation);
        Assert.InRange(WorkOf(page), 1, Entries / 4);
    }

    [Theory]
    [MemberData(nameof(Searches))]
    public void Filters_that_keep_much_leave_a_search_cheap(string name)
    {
        (IndexQuery query, SortKey[] sort, _) = _searches[name];
        var costly = new List<string>();
        foreach ((string one, IndexQuery filter) in _filters)
        {
            foreach ((string other, IndexQuery second) in _filters)
            {
                IndexQuery filtered = one == other ? new AndQuery([query, filter]) : new AndQuery([query, filter, second]);
                using SearchResults page = Search(filtered, sort);
                Assert.Equal(Take, page.Count);
                if (!_compared.Intersect([name, one, other]).Any() && WorkOf(page) > Entries / 4)
                    costly.Add($"{one} and {other}: {WorkOf(page):N0} by '{page.Plan?.Operation}'");
                if (sort.Length > 0 && string.CompareOrdinal(one, other) <= 0)
                    Assert.Equal(Sorted(filtered, sort), Ids(page));
            }
        }

        Assert.True(costly.Count == 0, string.Join(Environment.NewLine, costly));
    }

    /// <summary>What a search read: entries, scores and terms.</summary>
    private static long WorkOf(SearchResults page) =>
        page.Counters.EntriesScanned + page.Counters.CandidatesScored + page.Counters.TermsScanned;

    private static TermQuery Group(long group, string field = "group") => new(field, FieldValue.Of(group));

    private static RangeQuery Above(string field, double low) => new(field, FieldValue.Of(low), true, null, false);

    private static RangeQuery From(string low) => new("name", FieldValue.Of(low), true, null, false);

    private static List<long> Ids(SearchResults page)
    {
        var ids = new List<long>();
        while (page.MoveNext())
            ids.Add(page.EntryId);
        return ids;
    }

    private List<long> Sorted(IndexQuery query, SortKey[] sort)
    {
        using var searcher = new IndexSearcher(shop.Store.Environment);
        using SearchResults page = searcher.Search(
            new SearchRequest { Query = query, Sort = sort, Take = Take, OrderHint = OrderHint.Sort },
            cancellationToken: TestContext.Current.CancellationToken);
        return Ids(page);
    }

    private SearchResults Search(IndexQuery query, SortKey[] sort)
    {
        using var searcher = new IndexSearcher(shop.Store.Environment);
        return searcher.Search(
            new SearchRequest { Query = query, Sort = sort, Take = Take, CountsHits = false },
            new QueryOptions { Plan = PlanDetail.Counts }, TestContext.Current.CancellationToken);
    }

    /// <summary>Many entries with a value of each kind; half of them have 3 in a field of its own.</summary>
    public sealed class Shop : IDisposable
    {
        public Shop()
        {
            Store = new TemporaryStore();
            var random = new Random(11);
            var writer = new IndexWriter(
                Store.Environment,
                new IndexSchema(
                [
                    new IndexField("group"), new IndexField("name"), new IndexField("number"), new IndexField("half"),
                    new IndexField("text", FieldAnalysis.FullText), new IndexField("place", FieldAnalysis.Spatial),
                ]));
            IndexBatch batch = writer.BeginBatch();
            int[] numbers = [.. Enumerable.Range(0, Entries)];
            random.Shuffle(numbers);
            for (int i = 0; i < Entries; i++)
            {
                batch.BeginEntry(Encoding.UTF8.GetBytes($"e/{i}"));
                batch.AddLong(0, random.Next(6));
                batch.AddText(1, Encoding.UTF8.GetBytes($"n{random.Next(16 << 20):x6}"));
                batch.AddDouble(2, numbers[i]);
                batch.AddLong(3, random.Next(2) * 3);
                batch.AddText(4, Encoding.UTF8.GetBytes(Words(random)));
                batch.AddPoint(5, (random.NextDouble() * 160) - 80, (random.NextDouble() * 360) - 180);
                batch.EndEntry();
            }

            writer.Commit(batch, 1, TestContext.Current.CancellationToken);
            Assert.True(writer.TryAddCompound(new CompoundKey("group", "name", CompoundOrder.Text)));
            while (writer.BuildCompounds(TestContext.Current.CancellationToken))
            {
                // each call builds a part
            }
        }

        internal TemporaryStore Store { get; }

        public void Dispose() => Store.Dispose();

        /// <summary>Words of which the first are frequent.</summary>
        private static string Words(Random random)
        {
            var text = new StringBuilder();
            for (int left = random.Next(3, 16); left > 0; left--)
                text.Append('w').Append((int)(40 * Math.Pow(random.NextDouble(), 2.5))).Append(' ');
            return text.ToString();
        }
    }
}
