using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Spatial;
using Treepie.Indexing.Suggestions;
using Treepie.Indexing.Tests.Model;
using Treepie.Storage;
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
            stopped += StopEverywhere((options, token) => searcher.Search(request, options, token).Dispose());
            IndexFixture.Check(searcher, fixture.Model, request);
        }

        Assert.True(stopped > 200, $"only {stopped} queries were stopped");
    }

    [Fact]
    public void Queries_over_fields_of_every_kind_can_be_canceled_wherever_they_look_and_keep_their_budgets()
    {
        var random = new Random(Seed.Next());
        var data = new EveryKind(random);
        using StorageEnvironment environment = MemoryEnvironment.Open();
        var writer = new IndexWriter(environment, EveryKind.Schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 2_500; i++)
            data.Draw("docs/" + i).Put(batch);
        writer.Commit(batch, 1, Token);
        using IndexSearcher searcher = new(environment), fresh = new(environment);
        int stopped = 0, spent = 0;
        for (int i = 0; i < 120; i++)
        {
            SearchRequest request = data.Request() with { Query = i < 55 ? data.Leaf(i % 11) : data.Query(2) };
            stopped += StopEverywhere((options, token) => searcher.Search(request, options, token).Dispose());
            spent += ExceedBudgets(random, options =>
            {
                using SearchResults results = searcher.Search(request, options, Token);
                return results.Counters;
            });
            EveryKind.Compare(fresh, searcher, request);
        }

        Assert.True(stopped > 200 && spent > 60, $"only {stopped} queries were stopped, {spent} by their budgets");
    }

    [Fact]
    public void Groups_can_be_canceled_wherever_they_look_and_keep_their_budgets()
    {
        var random = new Random(Seed.Next());
        using IndexFixture fixture = Filled(random, out RandomData data);
        using IndexSearcher searcher = new(fixture.Environment), fresh = new(fixture.Environment);
        int stopped = 0, spent = 0;
        for (int i = 0; i < 60; i++)
        {
            var request = new FacetRequest(
                random.Next(3) == 0 ? new MatchAllQuery() : data.Query(2),
                [
                    new FacetQuery
                    {
                        Field = random.Next(2) == 0 ? "name" : "number",
                        Aggregates = random.Next(2) == 0 ? [] : ["number"],
                        Hint = (FacetHint)random.Next(3),
                    },
                    new FacetQuery { Ranges = [new FacetRange("a", data.Range("number")), new FacetRange("b", data.Query(1))] },
                ]);
            stopped += StopEverywhere((options, token) => searcher.Facets(request, options, token));
            spent += ExceedBudgets(random, options => searcher.Facets(request, options, Token).Counters);
            Assert.Equal(Shown(fresh.Facets(request, null, Token)), Shown(searcher.Facets(request, null, Token)));
        }

        Assert.True(stopped > 100 && spent > 60, $"only {stopped} were stopped, {spent} by their budgets");

        static string Shown(FacetResults results) => $"{results.TotalCount}: " + string.Join(
            "; ",
            results.Facets.SelectMany(facet => facet.Values).Select(
                value => $"{value.Range} {value.Count} {string.Join(' ', value.Figures)}"));
    }

    /// <summary>A budget is that of the index and its changes together, and a cancellation stops whichever is searched.</summary>
    [Fact]
    public void Queries_over_an_index_and_its_changes_can_be_canceled_wherever_they_look_and_keep_their_budgets()
    {
        var random = new Random(Seed.Next());
        var data = new EveryKind(random);
        using StorageEnvironment environment = MemoryEnvironment.Open();
        var writer = new IndexWriter(environment, EveryKind.Schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 1_500; i++)
            data.Draw("docs/" + i).Put(batch);
        writer.Commit(batch, 1, Token);
        using IndexSearcher searcher = new(environment), fresh = new(environment);
        using IndexTail tail = new(searcher), freshTail = new(fresh);
        IndexBatch changes = tail.BeginBatch(), same = freshTail.BeginBatch();
        for (int i = 1_300; i < 1_700; i++)
        {
            EveryKind.Entry entry = data.Draw("docs/" + i);
            entry.Put(changes);
            entry.Put(same);
        }

        tail.Fill(changes, Token);
        freshTail.Fill(same, Token);
        int stopped = 0, spent = 0;
        for (int i = 0; i < 50; i++)
        {
            SearchRequest request = data.Request() with { Query = i < 22 ? data.Leaf(i % 11) : data.Query(2) };
            var facets = new FacetRequest(
                data.Query(1),
                [
                    new FacetQuery { Field = "name" },
                    new FacetQuery { Ranges = [new FacetRange("a", data.Leaf(1))] },
                ]);
            stopped += StopEverywhere((options, token) => searcher.Search(request, tail, options, token).Dispose());
            stopped += StopEverywhere((options, token) => searcher.Facets(facets, tail, options, token));
            spent += ExceedBudgets(random, options =>
            {
                using SearchResults results = searcher.Search(request, tail, options, Token);
                return results.Counters;
            });
            spent += ExceedBudgets(random, options => searcher.Facets(facets, tail, options, Token).Counters);
            Assert.Equal(Hits(fresh, freshTail, request), Hits(searcher, tail, request));
        }

        Assert.True(stopped > 150 && spent > 60, $"only {stopped} queries were stopped, {spent} by their budgets");

        static List<string> Hits(IndexSearcher searcher, IndexTail tail, SearchRequest request)
        {
            using SearchResults results = searcher.Search(request, tail, cancellationToken: Token);
            return IndexFixture.Read(results);
        }
    }

    /// <summary>All entries are in one cell, which is read, put in order and taken as one step of the walk.</summary>
    [Fact]
    public void A_walk_by_distance_checks_for_cancellation_inside_a_cell_of_many_places()
    {
        const int Places = 2_000;
        var schema = new IndexSchema([new IndexField("place", FieldAnalysis.Spatial)]);
        using StorageEnvironment environment = MemoryEnvironment.Open();
        var writer = new IndexWriter(environment, schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < Places; i++)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes("docs/" + i));
            batch.AddPoint(0, 10, 10);
            batch.EndEntry();
        }

        writer.Commit(batch, 1, Token);
        using var searcher = new IndexSearcher(environment);
        var request = new SearchRequest
        {
            Query = new MatchAllQuery(),
            Sort = [new SortKey("place", SortKind.Distance, Centre: new GeoPoint(1, 2))],
            Take = 3,
        };
        int stopped = StopEverywhere((options, token) => searcher.Search(request, options, token).Dispose());
        Assert.True(stopped > 5, $"only {stopped} queries were stopped");

        var clock = new CountingClock(int.MaxValue, static () => { });
        searcher.Search(request, Watched(clock), Token).Dispose();
        Assert.True(clock.Looks > 3 * Places / 512, $"only {clock.Looks} checks while places are read, put in order and taken");
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
            stopped += ExceedBudgets(random, options =>
            {
                using SearchResults results = searcher.Search(request, options, Token);
                return results.Counters;
            });
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

    /// <summary>Cancels a query at places all over it, where it checks whether it was canceled; returns how often.</summary>
    private static int StopEverywhere(Action<QueryOptions, CancellationToken> run)
    {
        var counting = new CountingClock(int.MaxValue, static () => { });
        run(Watched(counting), Token);
        int checks = counting.Looks - 1, stopped = 0; // the first is that of the beginning
        for (int at = 1; at < checks; at += 1 + (checks / 12))
        {
            using var source = new CancellationTokenSource();
            var clock = new CountingClock(at, source.Cancel);
            Assert.ThrowsAny<OperationCanceledException>(() => run(Watched(clock), source.Token));
            Assert.Equal(at + 1, clock.Looks); // the next check ends it
            stopped++;
        }

        return stopped;
    }

    /// <summary>Runs a query with a budget of what it spends, and with less, which stops it; returns how often.</summary>
    private static int ExceedBudgets(Random random, Func<QueryOptions, QueryCounters> run)
    {
        QueryCounters spent = run(Within(long.MaxValue, long.MaxValue));
        run(Within(Math.Max(1, spent.PagesRead), Math.Max(1, spent.EntriesScanned)));
        int stopped = 0;
        foreach (QueryOptions less in new[]
        {
            spent.PagesRead > 1 ? Within(random.NextInt64(1, spent.PagesRead), null) : null,
            spent.EntriesScanned > 1 ? Within(null, random.NextInt64(1, spent.EntriesScanned)) : null,
        }.OfType<QueryOptions>())
        {
            QueryBudgetExceededException error = Assert.Throws<QueryBudgetExceededException>(() => _ = run(less));
            stopped++;
            Assert.StartsWith("The query was stopped: its budget of ", error.Message, StringComparison.Ordinal);
            Assert.Contains("Most was spent by", error.Message, StringComparison.Ordinal);
        }

        return stopped;
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
