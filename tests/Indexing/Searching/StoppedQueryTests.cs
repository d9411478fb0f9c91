using Treepie.Indexing.Queries;
using Treepie.Indexing.Suggestions;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Searching;

/// <summary>
/// Queries that end in the middle, canceled or over budget, at each place where they look: an error that says so, and the same
/// searcher answers the next query as if nothing had happened.
/// </summary>
public sealed class StoppedQueryTests
{
    private static readonly SortKey _best = new("", SortKind.Score, Descending: true);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public void A_query_can_be_canceled_wherever_it_looks()
    {
        var random = new Random(Seed.Next());
        using IndexFixture fixture = Filled(random, out RandomData data);
        using var searcher = new IndexSearcher(fixture.Environment);
        int stopped = 0;
        for (int i = 0; i < 150; i++)
        {
            SearchRequest request = Request(data, random);
            int checks = Checks(searcher, request);
            for (int at = 1; at < checks; at += 1 + (checks / 12))
            {
                using var source = new CancellationTokenSource();
                var clock = new CountingClock(at, source.Cancel);
                Assert.ThrowsAny<OperationCanceledException>(
                    () => searcher.Search(request, Watched(clock), source.Token).Dispose());
                Assert.Equal(at + 1, clock.Looks); // the next check ends it
                stopped++;
            }

            IndexFixture.Check(searcher, fixture.Model, request);
        }

        Assert.True(stopped > 200, $"only {stopped} queries were stopped");
    }

    [Fact]
    public void A_query_over_its_budget_ends_and_one_within_it_does_not()
    {
        var random = new Random(Seed.Next());
        using IndexFixture fixture = Filled(random, out RandomData data);
        using var searcher = new IndexSearcher(fixture.Environment);
        int stopped = 0;
        for (int i = 0; i < 200; i++)
        {
            SearchRequest request = Request(data, random);
            QueryCounters spent;
            using (SearchResults results = searcher.Search(request, Within(long.MaxValue, long.MaxValue), Token))
                spent = results.Counters;
            QueryOptions enough = Within(Math.Max(1, spent.PagesRead), Math.Max(1, spent.EntriesScanned));
            searcher.Search(request, enough, Token).Dispose();
            foreach (QueryOptions less in new[]
            {
                spent.PagesRead > 1 ? Within(random.NextInt64(1, spent.PagesRead), null) : null,
                spent.EntriesScanned > 1 ? Within(null, random.NextInt64(1, spent.EntriesScanned)) : null,
            }.OfType<QueryOptions>())
            {
                QueryBudgetExceededException error = Assert.Throws<QueryBudgetExceededException>(
                    () => searcher.Search(request, less, Token).Dispose());
                stopped++;
                Assert.StartsWith("The query was stopped: its budget of ", error.Message, StringComparison.Ordinal);
                Assert.Contains("Most was spent by", error.Message, StringComparison.Ordinal);
            }

            IndexFixture.Check(searcher, fixture.Model, request);
        }

        Assert.True(stopped > 20, $"only {stopped} queries were stopped");
    }

    [Fact]
    public void A_query_ends_when_its_time_is_over()
    {
        var random = new Random(Seed.Next());
        using IndexFixture fixture = Filled(random, out _);
        using var searcher = new IndexSearcher(fixture.Environment);
        var request = new SearchRequest { Query = new RegexQuery("name", "w[0-9]+"), Sort = [_best] };
        var clock = new CountingClock(3, static () => { });
        QueryBudgetExceededException error = Assert.Throws<QueryBudgetExceededException>(
            () => searcher.Search(
                request, Watched(clock) with { Budget = new QueryBudget { Time = TimeSpan.FromMinutes(1) } }, Token));
        Assert.Contains("60000 ms", error.Message, StringComparison.Ordinal);
        Assert.Contains("ms have passed", error.Message, StringComparison.Ordinal);
        IndexFixture.Check(searcher, fixture.Model, request);
        foreach (QueryBudget bad in new[]
        {
            new QueryBudget { Pages = 0 }, new QueryBudget { Entries = -1 }, new QueryBudget { Time = TimeSpan.Zero },
        })
        {
            ArgumentOutOfRangeException refused = Assert.Throws<ArgumentOutOfRangeException>(
                () => searcher.Search(request, new QueryOptions { Budget = bad }, Token));
            Assert.Contains("allows nothing", refused.Message, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void Groups_suggestions_and_measures_can_be_canceled_before_they_begin()
    {
        var random = new Random(Seed.Next());
        using IndexFixture fixture = Filled(random, out _);
        using var searcher = new IndexSearcher(fixture.Environment);
        var canceled = new CancellationToken(canceled: true);
        Assert.ThrowsAny<OperationCanceledException>(
            () => searcher.Facets(
                new FacetRequest(new MatchAllQuery(), [new FacetQuery { Field = "name" }]), options: null, canceled));
        Assert.ThrowsAny<OperationCanceledException>(
            () => searcher.Suggest(new SuggestionRequest { Field = "name", Text = "w11" }, canceled));
        Assert.ThrowsAny<OperationCanceledException>(() => searcher.MeasureStructures(canceled));
        IndexFixture.Check(searcher, fixture.Model, new SearchRequest { Query = new MatchAllQuery() });
    }

    private static IndexFixture Filled(Random random, out RandomData data)
    {
        data = new RandomData(random);
        var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 800, keys: 600);
        for (int i = 0; i < 9_000; i++)
            fixture.Put("many/" + i, (0, FieldValue.Of("w" + (i % 50))), (2, FieldValue.Of((long)i)));
        fixture.Commit();
        return fixture;
    }

    private static SearchRequest Request(RandomData data, Random random)
    {
        SearchRequest request = data.Request();
        if (random.Next(2) == 0)
            request = request with { Query = new AndQuery([new MatchAllQuery(), request.Query]) };
        return request with { Query = random.Next(3) == 0 ? new OrQuery([request.Query, data.Range("number")]) : request.Query };
    }

    private static int Checks(IndexSearcher searcher, SearchRequest request)
    {
        var clock = new CountingClock(int.MaxValue, static () => { });
        searcher.Search(request, Watched(clock), Token).Dispose();
        return clock.Looks - 1; // the first is that of the beginning
    }

    private static QueryOptions Watched(TimeProvider clock) =>
        new() { Budget = new QueryBudget { Time = TimeSpan.FromDays(1) }, TimeProvider = clock };

    private static QueryOptions Within(long? pages, long? entries) =>
        new() { Budget = new QueryBudget { Pages = pages, Entries = entries } };

    /// <summary>A clock that acts when it is looked at so often, and from then on is an hour ahead.</summary>
    private sealed class CountingClock(int at, Action action) : TimeProvider
    {
        public int Looks { get; private set; }

        public override long TimestampFrequency => 1;

        public override long GetTimestamp()
        {
            if (Looks++ == at)
                action();
            return Looks > at ? 3_600 : 0;
        }
    }
}
