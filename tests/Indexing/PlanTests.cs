using System.Text;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>
/// What a query says of itself: every way gives the same answer, the same numbers every time, and stops where its budget ends.
/// </summary>
public sealed class PlanTests
{
    [Fact]
    public void Every_way_a_query_can_be_run_gives_the_same_answer()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random, singleValues: true);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 700, keys: 500);
        for (int i = 0; i < 300; i++)
            fixture.Put("many/" + i, (0, FieldValue.Of("w5")), (2, FieldValue.Of((long)i)));
        fixture.Commit();
        for (int i = 0; i < 120; i++)
        {
            SearchRequest request = data.Request();
            request = request with { Query = new AndQuery([request.Query, data.Leaf(4), data.Leaf(11)]) };
            foreach (ProbeHint probe in Enum.GetValues<ProbeHint>())
            {
                foreach (RangeHint range in Enum.GetValues<RangeHint>())
                    Check(
                        fixture, request,
                        new QueryOptions
                        {
                            Plan = (PlanDetail)random.Next(3),
                            Hints = new PlanHints { Probe = probe, Range = range }
                        });
            }
        }
    }

    [Fact]
    public void Counters_and_plan_are_the_same_on_every_run_cold_and_warm()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 800, keys: 500);
        fixture.Commit();
        (long blocks, long bytes) = (0, 0);
        for (int i = 0; i < 60; i++)
        {
            SearchRequest request = data.Request();
            if (random.Next(2) == 0)
                request = request with { Sort = [new SortKey("", SortKind.Score, Descending: true)] };
            string first = "";
            if (i % 20 == 0)
                fixture.Reopen();
            using var searcher = new IndexSearcher(fixture.Environment);
            for (int run = 0; run < 4; run++)
            {
                using var other = new IndexSearcher(fixture.Environment);
                using SearchResults planned = Run(
                    run % 2 == 0 ? searcher : other, request, new QueryOptions { Plan = (PlanDetail)(1 + (run % 2)) });
                using SearchResults plain = Run(searcher, request);
                Assert.Equal(planned.Counters, plain.Counters);
                Assert.Equal(
                    run % 2 == 1 && OperatingSystem.IsLinux(),
                    planned.Plan!.ColdPages is { } cold && cold >= 0 && cold <= planned.Counters.PagesRead);
                blocks += plain.Counters.BlocksDecoded;
                bytes += plain.Counters.BytesDecoded;
                Assert.Null(plain.Plan);
                string text = Text(planned.Plan!, 0); // it was asked for
                first = run == 0 ? text : first;
                Assert.Equal(first, text);
            }
        }

        Assert.True(blocks > 0 && bytes > blocks);
    }

    [Fact]
    public void A_rare_term_ranked_by_operators_shows_the_windows_in_which_it_scored()
    {
        using var fixture = new IndexFixture(new IndexSchema([new IndexField("kind", FieldAnalysis.Keyword)]));
        for (int i = 0; i < 2 * PostingWindow.Size; i++)
            fixture.Put("entry/" + i, (0, FieldValue.Of(i % PostingWindow.Size == 7 ? "rare" : "frequent")));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        var request = new SearchRequest
        {
            Query = new TermQuery("kind", FieldValue.Of("rare")),
            Sort = [new SortKey("", SortKind.Score, Descending: true)],
            Take = 10,
        };
        using SearchResults results = searcher.Search(
            request, new QueryOptions { Plan = PlanDetail.Counts }, TestContext.Current.CancellationToken);
        Assert.Equal(2, results.Count);
        Assert.Equal(2, results.Plan!.Windows);
        Assert.Equal(2, Assert.Single(results.Plan.Children).Windows);
    }

    [Fact]
    public void The_time_of_a_step_is_not_that_of_its_children()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 300, keys: 200);
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        int deep = 0;
        for (int i = 0; i < 60; i++)
        {
            var clock = new CountingClock();
            SearchRequest request = data.Request() with
            {
                Query = new AndQuery([data.Query(3), new OrQuery([data.Leaf(4), data.Leaf(15), data.Leaf(8)])])
            };
            using SearchResults results = searcher.Search(
                request, new QueryOptions { Plan = PlanDetail.Times, TimeProvider = clock },
                TestContext.Current.CancellationToken);
            TimeSpan sum = Sum(results.Plan!); // it was asked for
            Assert.True(sum <= clock.Passed, $"{sum} of {clock.Passed}");
            deep += results.Plan!.Children.Count > 0 && results.Plan.Children[0].Children.Count > 0 ? 1 : 0;
        }

        Assert.True(deep > 0);

        static TimeSpan Sum(PlanNode node) =>
            (node.Elapsed ?? TimeSpan.Zero) + new TimeSpan(node.Children.Sum(child => Sum(child).Ticks));
    }

    /// <summary>A clock that goes on by one each time it is looked at.</summary>
    private sealed class CountingClock : TimeProvider
    {
        private long _now;

        public TimeSpan Passed => new(_now);

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => ++_now;
    }

    [Fact]
    public void What_the_steps_did_is_what_the_query_did()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 500, keys: 300);
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        for (int i = 0; i < 100; i++)
        {
            using SearchResults results = Run(
                searcher, data.Request() with { Sort = [] }, new QueryOptions { Plan = PlanDetail.Counts });
            QueryCounters sum = Sum(results.Plan!); // it was asked for
            Assert.True(sum.EntriesScanned <= results.Counters.EntriesScanned);
            Assert.Equal(results.Count, results.Plan!.RowsOut);
        }
    }

    [Fact]
    public void Hits_that_are_scored_are_not_looked_for_again()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        string text = RandomData.Schema.Fields[0].Name, number = RandomData.Schema.Fields[2].Name;
        for (int i = 0; i < 60; i++)
            fixture.Put("few/" + i, (0, FieldValue.Of(i % 5 == 0 ? "w1" : "w2")), (2, FieldValue.Of((long)(i % 4))));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        foreach (IndexQuery other in (IndexQuery[])
        [
            new TermQuery(number, FieldValue.Of(0L)), new RangeQuery(number, FieldValue.Of(0L), true, FieldValue.Of(0L), true)
        ])
        {
            var request = new SearchRequest
            {
                Query = new AndQuery([new TermQuery(text, FieldValue.Of("w1")), other]),
                Sort = [new SortKey("", SortKind.Score, Descending: true)],
                Take = 50_000
            };
            using SearchResults results = Run(searcher, request, new QueryOptions { Plan = PlanDetail.Counts });
            Assert.Equal(3, results.Count);
            PlanNode and = Assert.Single(results.Plan!.Children); // it was asked for
            Assert.Equal([12L, 3L], and.Children.Select(child => child.RowsOut));
        }
    }

    [Fact]
    public void A_budget_stops_a_query_and_says_which_step_spent_it()
    {
        var random = new Random(Seed.Next());
        using var fixture = new IndexFixture(RandomData.Schema);
        for (int i = 0; i < 3_000; i++)
            fixture.Put("docs/" + i, (0, FieldValue.Of("name " + i)), (2, FieldValue.Of((long)i)));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        var request = new SearchRequest
        {
            Query = new AndQuery([new SuffixQuery("name", "7"), new RangeQuery("number", FieldValue.Of(5L), true, null, false)])
        };
        QueryBudgetExceededException error = Assert.Throws<QueryBudgetExceededException>(
            () => Run(searcher, request, new QueryOptions { Budget = new QueryBudget(Pages: 3) }));
        Assert.Contains("3 pages", error.Message, StringComparison.Ordinal);
        Assert.Contains("suffix", error.Message, StringComparison.Ordinal);
        Assert.Throws<QueryBudgetExceededException>(
            () => Run(searcher, request, new QueryOptions { Budget = new QueryBudget(Entries: 10) }));
        using SearchResults enough = Run(
            searcher, request,
            new QueryOptions { Budget = new QueryBudget(Pages: 100_000, Entries: 100_000, Time: TimeSpan.FromMinutes(10)) });
        Assert.Equal(300, enough.TotalCount);
        foreach (QueryBudget budget in new[]
        {
            new QueryBudget(Pages: 0), new QueryBudget(Entries: -1), new QueryBudget(Time: TimeSpan.Zero)
        })
            Assert.Throws<ArgumentOutOfRangeException>(() => Run(searcher, request, new QueryOptions { Budget = budget }));
    }

    [Fact]
    public void What_is_answered_has_not_spent_more_than_its_budget()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        for (int i = 0; i < 500; i++)
            fixture.Put("docs/" + i, (0, FieldValue.Of("name " + (i % 7))), (2, FieldValue.Of((long)i)));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        IndexQuery[] queries =
        [
            new MatchAllQuery(), new TermQuery("name", FieldValue.Of("name 3")),
            new NotQuery(new TermQuery("name", FieldValue.Of("x"))), new PrefixQuery("name", "name"),
            new RangeQuery("number", FieldValue.Of(5L), true, FieldValue.Of(90L), true)
        ];
        foreach (IndexQuery query in queries)
        {
            foreach (SortKey[] sort in (SortKey[][])
            [
                [], [new SortKey("number", SortKind.Long)],
                [new SortKey("name", SortKind.Text, Descending: true), new SortKey("number", SortKind.Long)]
            ])
            {
                var request = new SearchRequest { Query = query, Sort = sort, Take = 3 };
                HeldTo(budget =>
                {
                    using SearchResults results = Run(searcher, request, new QueryOptions { Budget = budget });
                    return results.Counters;
                });
            }

            var facets = new FacetRequest(query, [new FacetQuery { Field = "name" }]);
            HeldTo(
                budget => searcher.Facets(
                    facets, new QueryOptions { Budget = budget }, TestContext.Current.CancellationToken).Counters);
        }

        static void HeldTo(Func<QueryBudget, QueryCounters> ask)
        {
            QueryCounters spent = ask(new QueryBudget(Pages: long.MaxValue));
            Assert.True(spent.PagesRead > 0);
            Assert.Equal(spent, ask(new QueryBudget(spent.PagesRead, Math.Max(1, spent.EntriesScanned))));
            if (spent.PagesRead > 1)
                Assert.Throws<QueryBudgetExceededException>(() => ask(new QueryBudget(spent.PagesRead - 1)));
            if (spent.EntriesScanned > 1)
                Assert.Throws<QueryBudgetExceededException>(() => ask(new QueryBudget(Entries: spent.EntriesScanned - 1)));
        }
    }

    [Fact]
    public void Pages_behind_a_position_are_the_pages_of_a_scan()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random, singleValues: true);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 400, keys: 250);
        fixture.Put("zero", (0, FieldValue.Of("a\0b")), (2, FieldValue.Of(0.25)));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        for (int i = 0; i < 120; i++)
        {
            SearchRequest request = data.Request() with { Skip = 0, Take = random.Next(1, 40), WithPosition = true };
            if (random.Next(2) == 0)
                request = request with { Query = new MatchAllQuery() };
            if (random.Next(3) > 0)
                request = request with
                {
                    Sort =
                    [
                        new SortKey(
                            random.Next(2) == 0 ? "number" : "name", (SortKind)random.Next(4), random.Next(2) == 0,
                            random.Next(3) switch { 0 => null, 1 => true, _ => false }),
                        .. request.Sort
                    ]
                };
            if (random.Next(8) == 0)
                request = request with { Sort = [new SortKey("", SortKind.Random, Seed: "s")] };
            if (random.Next(6) == 0)
                request = request with
                {
                    Sort =
                    [
                        new SortKey("", SortKind.Score, Descending: random.Next(3) > 0),
                        .. request.Sort.Take(1).Where(key => key.Kind != SortKind.Random)
                    ]
                };
            if (random.Next(8) == 0)
                request = request with
                {
                    Sort =
                    [
                        new SortKey(
                            "name", SortKind.Custom, random.Next(2) == 0,
                            random.Next(3) switch { 0 => null, 1 => true, _ => false }) { Custom = new ByLength() },
                        .. request.Sort
                    ]
                };
            if (random.Next(4) == 0 && request.Sort is [{ Field: "number" or "name" } first, ..])
                request = request with
                {
                    Query = new AndQuery([request.Query, data.Range(first.Field)]),
                    CountsHits = random.Next(2) == 0
                };
            foreach (OrderHint hint in Enum.GetValues<OrderHint>())
            {
                List<string> all;
                using (SearchResults whole = Run(searcher, request with { Take = long.MaxValue, OrderHint = hint }))
                    all = IndexFixture.Read(whole);
                List<string> paged = [];
                ReadOnlyMemory<byte> position = default;
                do
                {
                    using SearchResults page = Run(searcher, request with { After = position, OrderHint = hint });
                    Assert.True(page.IsTotalExact ? all.Count == page.TotalCount : !request.CountsHits);
                    paged.AddRange(IndexFixture.Read(page));
                    position = page.Position;
                }
                while (!position.IsEmpty);
                Assert.True(
                    all.SequenceEqual(paged),
                    $"{string.Join(", ", request.Sort)} {hint}\nexpected {string.Join(' ', all)}\nactual   "
                        + $"{string.Join(' ', paged)}");
            }
        }
    }

    /// <summary>Of numbers that are the same long, those outside the range stay outside when a page goes on among them.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_page_that_goes_on_among_equal_longs_stays_in_its_range(bool isDescending)
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        foreach (double number in (double[])[-0.7, 0, 0.4, -0.2, 0.9, 3.2, 3, 3.7, 2.5])
            fixture.Put(FormattableString.Invariant($"docs/{number}"), (2, FieldValue.Of(number)));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        var request = new SearchRequest
        {
            Query = new RangeQuery("number", FieldValue.Of(0L), LowInclusive: true, FieldValue.Of(3L), HighInclusive: true),
            Sort = [new SortKey("number", SortKind.Long, isDescending)],
            Take = 1,
            OrderHint = OrderHint.Walk,
            WithPosition = true,
        };
        List<string> found = [];
        ReadOnlyMemory<byte> position = default;
        do
        {
            using SearchResults page = searcher.Search(request with { After = position }, TestContext.Current.CancellationToken);
            found.AddRange(IndexFixture.Read(page));
            position = page.Position;
        }
        while (!position.IsEmpty);
        Assert.Equal(
            isDescending
                ? ["docs/3", "docs/2.5", "docs/0", "docs/0.4", "docs/0.9"]
                : ["docs/0", "docs/0.4", "docs/0.9", "docs/2.5", "docs/3"],
            found);
    }

    [Fact]
    public void A_position_of_another_query_or_index_or_a_damaged_one_is_refused()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        using var other = new IndexFixture(RandomData.Schema);
        for (int i = 0; i < 20; i++)
        {
            fixture.Put("docs/" + i, (0, FieldValue.Of("w" + i)));
            other.Put("docs/" + i, (0, FieldValue.Of("w" + i)));
        }

        fixture.Commit();
        other.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        using var elsewhere = new IndexSearcher(other.Environment);
        var request = new SearchRequest
        {
            Query = new PrefixQuery("name", "w"),
            Sort = [new SortKey("name", SortKind.Text)],
            Take = 5,
            WithPosition = true
        };
        using SearchResults page = Run(searcher, request);
        byte[] position = page.Position!; // the page is full
        request = request with { After = position };
        Refused("another index", () => Run(elsewhere, request));
        Refused("another query", () => Run(searcher, request with { Query = new PrefixQuery("name", "w1") }));
        Refused(
            "another query", () => Run(searcher, request with { Sort = [new SortKey("name", SortKind.Text, Descending: true)] }));
        Refused("damaged", () => Run(searcher, request with { After = position.AsMemory()[..^1] }));
        Refused("not the end of a page", () => Run(searcher, request with { After = new byte[] { 9, 9 } }));
    }

    [Fact]
    public void An_order_of_ones_own_sorts_as_it_says_with_nulls_where_they_belong()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        foreach (string name in new[] { "ccc", "a", "bb", "dddd", "unknown!" })
            fixture.Put(name, (0, FieldValue.Of(name)));
        fixture.Put("nothing");
        fixture.Commit();
        List<string> Keys(bool descending, bool? nullsFirst) => fixture.Keys(new SearchRequest
        {
            Query = new MatchAllQuery(),
            Sort = [new SortKey("name", SortKind.Custom, descending, nullsFirst) { Custom = new ByLength() }],
        });
        Assert.Equal(["unknown!", "nothing", "a", "bb", "ccc", "dddd"], Keys(false, null));
        Assert.Equal(["dddd", "ccc", "bb", "a", "unknown!", "nothing"], Keys(true, null));
        Assert.Equal(["a", "bb", "ccc", "dddd", "unknown!", "nothing"], Keys(false, false));
    }

    [Theory]
    [InlineData(SortKind.Text, 1)]
    [InlineData(SortKind.Text, 0)]
    [InlineData(SortKind.Long, 1)]
    [InlineData(SortKind.AlphaNumeric, 1)]
    [InlineData(SortKind.Score, 1)]
    [InlineData(SortKind.Random, 1)]
    public void An_order_of_ones_own_stands_with_its_own_kind_alone(SortKind kind, long take)
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        foreach (string name in new[] { "ccc", "a", "bb" })
            fixture.Put(name, (0, FieldValue.Of(name)));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        var request = new SearchRequest
        {
            Query = new MatchAllQuery(),
            Sort = [new SortKey("name", kind) { Custom = new ByLength() }],
            Take = take,
        };
        Refused("SortKey.Custom", () => Run(searcher, request));
        Refused(
            "SortKey.Custom",
            () => Run(
                searcher, request with { Sort = [new SortKey("name", SortKind.Text), new SortKey("name", SortKind.Custom)] }));
    }

    private static SearchResults Run(IndexSearcher searcher, SearchRequest request, QueryOptions? options = null) =>
        searcher.Search(request, options, TestContext.Current.CancellationToken);

    private static void Refused(string why, Func<SearchResults> search) =>
        Assert.Contains(why, Assert.Throws<IndexQueryException>(search).Message, StringComparison.Ordinal);

    private static void Check(IndexFixture fixture, SearchRequest request, QueryOptions options)
    {
        using var searcher = new IndexSearcher(fixture.Environment);
        List<string> expected = [.. fixture.Model.Search(request).Select(hit => hit.Key)];
        using SearchResults results = Run(searcher, request, options);
        Assert.True(
            expected.Count == results.TotalCount,
            $"{request} {options.Hints}: {results.TotalCount} hits, a scan finds {expected.Count}");
        Assert.Equal(
            expected.Skip((int)request.Skip).Take((int)Math.Min(int.MaxValue, request.Take)), IndexFixture.Read(results));
    }

    private static QueryCounters Sum(PlanNode node) => node.Children.Aggregate(node.Counters, (sum, child) => sum + Sum(child));

    private static string Text(PlanNode node, int depth)
    {
        var text = new StringBuilder();
        text.Append(' ', depth)
            .Append(node.Operation)
            .Append(' ')
            .Append(node.Field)
            .Append(' ')
            .Append(node.Label)
            .Append(' ')
            .Append(node.Estimate)
            .Append(node.IsExact)
            .Append(node.Counters)
            .Append(node.Windows)
            .Append(' ')
            .Append(node.WindowsBelowBound)
            .Append(' ')
            .Append(node.RowsIn)
            .Append(' ').Append(node.RowsOut).Append(' ').Append(node.Probes).AppendLine();
        foreach (PlanDecision decision in node.Decisions)
            text.Append(decision.Question)
                .Append(decision.Chosen)
                .Append(decision.Cost)
                .AppendJoin(' ', decision.NotTaken)
                .AppendLine();
        foreach (PlanNode child in node.Children)
            text.Append(Text(child, depth + 1));
        return text.ToString();
    }

    /// <summary>Short texts first; one that ends with "!" counts as null.</summary>
    private sealed class ByLength : ICustomOrder
    {
        public string Name => "by length";

        public int WriteKey(SortValue value, Span<byte> key)
        {
            if (value.Text.EndsWith("!"u8))
                return -1;
            key[0] = (byte)value.Text.Length;
            return 1;
        }
    }
}
