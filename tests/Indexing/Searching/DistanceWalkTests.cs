using System.Globalization;
using System.Text;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Indexing.Tests.Spatial;
using Treepie.Storage;
using Treepie.Tests.Support;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Indexing.Tests.Searching;

/// <summary>
/// Orders by distance in which many places are equally far away: on a grid around the centre, at the same place, or after
/// rounding. The walk from the centre outwards must return them as sorting all of them does, by id or by the next key.
/// </summary>
public sealed class DistanceWalkTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Places_that_are_equally_far_away_come_in_the_order_of_what_decides_next(bool hasSeveralPlaces)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using StorageEnvironment environment = MemoryEnvironment.Open();
        var writer = new IndexWriter(
            environment,
            new IndexSchema([new IndexField("place", FieldAnalysis.Spatial), new IndexField("name"), new IndexField("number")]));
        Fill(writer, random, hasSeveralPlaces);
        using var searcher = new IndexSearcher(environment);
        int walked = 0;
        for (int round = 0; round < 250; round++)
        {
            double[] rounded = [0, 0, 10, 150, 1_000, 25_000];
            GeoPoint centre = random.Next(3) == 0
                ? RandomShapes.Place(random)
                : new GeoPoint((random.Next(-20, 21) * 2) + 1, (random.Next(-20, 21) * 2) + random.Next(2));
            var key = new SortKey("place", SortKind.Distance, Centre: centre, RoundToKm: rounded[random.Next(rounded.Length)]);
            SortKey[] more = random.Next(3) switch
            {
                0 => [new SortKey("number", SortKind.Long, random.Next(2) == 0)],
                1 => [new SortKey("name", SortKind.Text, random.Next(2) == 0), new SortKey("number", SortKind.Double)],
                _ => [],
            };
            var request = new SearchRequest
            {
                Query = Condition(random),
                Sort = [key, .. more],
                Skip = random.Next(3) == 0 ? random.Next(60) : 0,
                Take = random.Next(1, 80),
                CountsHits = random.Next(2) == 0,
            };
            List<string> expected = Hits(searcher, request with { OrderHint = OrderHint.Sort }, out bool hasWalked);
            Assert.False(hasWalked);
            List<string> actual = Hits(searcher, request with { OrderHint = OrderHint.Walk }, out hasWalked);
            Assert.True(
                expected.SequenceEqual(actual),
                $"seed {seed}, round {round}: {IndexFixture.Describe(request)}\nexpected {string.Join(' ', expected)}\n"
                    + $"actual   {string.Join(' ', actual)}");
            walked += hasWalked ? 1 : 0;
        }

        Assert.True(walked > 100, $"only {walked} orders were walked");
    }

    /// <summary>Pages by position through groups of equally distant places have each of them once.</summary>
    [Fact]
    public void Pages_that_end_between_equally_distant_places_continue_with_the_next_one()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using StorageEnvironment environment = MemoryEnvironment.Open();
        var writer = new IndexWriter(
            environment,
            new IndexSchema([new IndexField("place", FieldAnalysis.Spatial), new IndexField("name"), new IndexField("number")]));
        Fill(writer, random, hasSeveralPlaces: false);
        using var searcher = new IndexSearcher(environment);
        for (int round = 0; round < 6; round++)
        {
            var request = new SearchRequest
            {
                Query = Condition(random),
                Sort =
                [
                    new SortKey(
                        "place", SortKind.Distance, random.Next(3) == 0, Centre: new GeoPoint(1, 1),
                        RoundToKm: random.Next(2) * 500),
                ],
                WithPosition = true,
            };
            List<string> whole = Hits(searcher, request, out _), pages = [];
            byte[]? after = null;
            do
            {
                using SearchResults page = searcher.Search(request with { Take = random.Next(1, 150), After = after }, Token);
                pages.AddRange(IndexFixture.Read(page));
                after = page.Position;
            }
            while (after is not null);
            Assert.True(whole.SequenceEqual(pages), $"seed {seed}, round {round}: {pages.Count} of {whole.Count} hits");
        }
    }

    private static void Fill(IndexWriter writer, Random random, bool hasSeveralPlaces)
    {
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 3_000; i++)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes($"docs/{i}"));
            int places = random.Next(12) == 0 ? 0 : hasSeveralPlaces ? random.Next(1, 4) : 1;
            for (; places > 0; places--)
                batch.AddPoint(0, random.Next(-20, 21) * 2, random.Next(-20, 21) * 2);
            batch.AddText(1, Encoding.UTF8.GetBytes(random.Next(4).ToString(CultureInfo.InvariantCulture)));
            if (random.Next(5) > 0)
                batch.AddLong(2, random.Next(6));
            batch.EndEntry();
        }

        writer.Commit(batch, 1, Token);
    }

    private static IndexQuery Condition(Random random) => random.Next(3) switch
    {
        0 => new MatchAllQuery(),
        1 => new TermQuery("name", FieldValue.Of("1")),
        _ => new AndQuery([new ExistsQuery("place"), new RangeQuery("number", FieldValue.Of(1L), true, null, true)]),
    };

    private static List<string> Hits(IndexSearcher searcher, SearchRequest request, out bool hasWalked)
    {
        using SearchResults results = searcher.Search(request, new QueryOptions { Plan = PlanDetail.Counts }, Token);
        hasWalked = Decisions(results.Plan).Any(static one => one.Chosen == "nearest squares first");
        return IndexFixture.Read(results);
    }

    private static IEnumerable<PlanDecision> Decisions(PlanNode? plan) =>
        plan is null ? [] : plan.Decisions.Concat(plan.Children.SelectMany(Decisions));
}
