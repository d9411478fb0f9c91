using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Queries;

/// <summary>A fusion against its searches, each run alone and merged by hand.</summary>
public sealed class FusionQueryTests
{
    private static readonly SortKey _best = new("", SortKind.Score, Descending: true);

    [Theory]
    [InlineData(0, 120)]
    [InlineData(9_000, 30)] // in several windows, of which most have none of the best
    public void A_fusion_is_the_merged_lists_of_its_searches(int more, int queries)
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 400, keys: 300);
        for (int i = 0; i < more; i++)
            fixture.Put("more/" + i, [.. data.Entry()]);
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        for (int i = 0; i < queries; i++)
        {
            var fusion = new FusionQuery(
                [
                    .. Enumerable.Range(0, random.Next(1, 4))
                        .Select(_ => new FusionClause(Search(data, random), random.Next(1, 4))),
                ],
                random.Next(2) == 0 ? FusionMethod.ReciprocalRank : FusionMethod.Weighted, random.Next(1, 60));
            IndexQuery? filter = random.Next(2) == 0 ? data.Range("number") : null;
            Dictionary<string, double> expected = Fuse(searcher, fusion, filter);
            using SearchResults results = searcher.Search(
                new SearchRequest { Query = filter is null ? fusion : new AndQuery([filter, fusion]), Sort = [_best] },
                TestContext.Current.CancellationToken);
            string what = $"{fusion} {string.Join(" | ", fusion.Clauses)} and {filter}";
            Assert.True(expected.Count == results.TotalCount, $"{what}: {results.TotalCount}, not {expected.Count}");
            double offset = filter is null ? 0 : 1; // a range scores 1
            float last = float.PositiveInfinity;
            while (results.MoveNext())
            {
                double score = expected[Encoding.UTF8.GetString(results.Key)] + offset;
                Assert.True(Math.Abs(score - results.Score) <= 1e-5 * Math.Max(1, score), $"{what}: {results.Score} {score}");
                Assert.True(results.Score <= last, what);
                last = results.Score;
            }
        }
    }

    [Fact]
    public void Fusions_out_of_range_are_refused()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.Put("docs/1", (0, FieldValue.Of("a")));
        fixture.Commit();
        var one = new FusionClause(new MatchAllQuery());
        Refused(fixture, new FusionQuery([], FusionMethod.Weighted), "has 1 to 64 searches; 0 are given");
        Refused(
            fixture, new FusionQuery([.. Enumerable.Repeat(one, FusionQuery.MaxClauses + 1)], FusionMethod.Weighted),
            "65 are given");
        Refused(fixture, new FusionQuery([one], FusionMethod.Weighted, 0), "1 to 16,384 entries; 0 is out of range");
        Refused(fixture, new FusionQuery([one], FusionMethod.Weighted, FusionQuery.MaxWindow + 1), "16385 is out of range");
        foreach (float weight in (float[])[0, -1, float.NaN, float.PositiveInfinity])
            Refused(fixture, new FusionQuery([one with { Weight = weight }], FusionMethod.ReciprocalRank), "weight of a search");
    }

    private static void Refused(IndexFixture fixture, FusionQuery query, string message)
    {
        using var searcher = new IndexSearcher(fixture.Environment);
        IndexQueryException error = Assert.Throws<IndexQueryException>(
            () => searcher.Search(new SearchRequest { Query = query }));
        Assert.Contains(message, error.Message, StringComparison.Ordinal);
    }

    private static IndexQuery Search(RandomData data, Random random) => random.Next(3) switch
    {
        0 => new FullTextQuery("text", data.Text(random.Next(1, 4)), All: false),
        1 => new OrQuery([new BoostQuery(data.Leaf(2), random.Next(1, 4)), new PrefixQuery("name", "w")]),
        _ => data.Query(2),
    };

    /// <summary>The searches alone, with the other condition as a filter that scores nothing.</summary>
    private static Dictionary<string, double> Fuse(IndexSearcher searcher, FusionQuery fusion, IndexQuery? filter)
    {
        var fused = new Dictionary<string, double>();
        foreach (FusionClause clause in fusion.Clauses)
        {
            IndexQuery alone = filter is null ? clause.Query : new AndQuery([clause.Query, new BoostQuery(filter, 0)]);
            using SearchResults results = searcher.Search(
                new SearchRequest { Query = alone, Sort = [_best], Take = fusion.Window }, TestContext.Current.CancellationToken);
            var list = new List<(string Key, float Score)>();
            while (results.MoveNext())
                list.Add((Encoding.UTF8.GetString(results.Key), results.Score));
            for (int i = 0; i < list.Count; i++)
            {
                double range = list[0].Score - (double)list[^1].Score;
                double part = fusion.Method == FusionMethod.ReciprocalRank ? 1.0 / (FusionQuery.RankConstant + 1 + i)
                    : range > 0 ? (list[i].Score - (double)list[^1].Score) / range : 1;
                fused[list[i].Key] = fused.GetValueOrDefault(list[i].Key) + (clause.Weight * part);
            }
        }

        return fused;
    }
}
