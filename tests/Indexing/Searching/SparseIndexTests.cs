using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Searching;
using Treepie.Indexing.Tests.Model;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Searching;

/// <summary>
/// An index in which hardly two entries are in one window, as where nearly all entries have been replaced since: more windows
/// than hits and bitmaps are kept for. Every search answers as a scan does.
/// </summary>
public sealed class SparseIndexTests
{
    private const int Entries = HitSet.MaxKeptWindows + 150;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public void Hits_in_more_windows_than_are_kept_are_those_of_a_scan()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random, singleValues: true);
        using var fixture = new IndexFixture(RandomData.Schema);
        for (int i = 0; i < Entries; i++)
        {
            fixture.Put("docs/" + i, [.. data.Entry().Where(static value => value.Field < 3)]);
            fixture.Commit();
            LeaveGap(fixture);
        }

        using var searcher = new IndexSearcher(fixture.Environment);
        for (int i = 0; i < 12; i++)
        {
            // Most requests hit nearly everything, in other ways than all of a list.
            IndexQuery query = (i % 4) switch
            {
                0 => data.Query(2),
                1 => new NotQuery(new AndQuery([data.Query(1), new TermQuery("name", data.Value(0))])),
                2 => new OrQuery([new NotQuery(new TermQuery("tag", data.Value(1))), data.Query(1)]),
                _ => new AndQuery([new NotQuery(new ExistsQuery("rare")), new NotQuery(new TermQuery("tag", data.Value(1)))]),
            };
            SearchRequest request = data.Request() with { Query = query };
            if (i % 3 > 0)
                request = request with
                {
                    Sort = [new SortKey(i % 3 == 1 ? "number" : "name", (SortKind)random.Next(3), random.Next(2) == 0)],
                    Take = random.Next(1, 30),
                };
            foreach (OrderHint hint in Enum.GetValues<OrderHint>())
                IndexFixture.Check(
                    searcher, fixture.Model, request with { OrderHint = hint, CountsHits = random.Next(3) > 0 });
            if (i % 6 == 0)
                CheckGroups(searcher, fixture.Model, query);
        }
    }

    private static void CheckGroups(IndexSearcher searcher, NaiveIndex model, IndexQuery query)
    {
        List<NaiveEntry> hits = [.. model.Entries.Where(entry => model.Matches(query, entry))];
        foreach (string field in new[] { "tag", "number" })
        {
            Dictionary<string, long> expected = hits
                .SelectMany(entry => model.TermsOf(entry, model.Field(field)).Distinct())
                .GroupBy(term => term)
                .ToDictionary(group => group.Key, group => group.LongCount());
            foreach (FacetHint hint in Enum.GetValues<FacetHint>())
            {
                FacetResults found = searcher.Facets(
                    new FacetRequest(query, [new FacetQuery { Field = field, Hint = hint }]), options: null, Token);
                Assert.Equal(hits.Count, found.TotalCount);
                Assert.Equal(expected, found.Facets[0].Values.ToDictionary(value => value.Range, value => value.Count));
            }
        }
    }

    /// <summary>The next entry is in another window.</summary>
    private static void LeaveGap(IndexFixture fixture) => fixture.Environment.Write(transaction =>
    {
        Tree tree = transaction.GetOrCreateTree(TreeNames.Index);
        IndexState state = IndexState.Read(tree);
        state.NextEntryId += 4_096;
        state.Write(tree);
        return true;
    });
}
