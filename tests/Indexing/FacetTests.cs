using System.Globalization;
using Treepie.Indexing.Facets;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>Groups of hits against a scan: the same terms, counts, sums and order, whichever way they are counted.</summary>
public sealed class FacetTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Groups_of_random_queries_are_those_of_a_scan(bool singleValues)
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random, singleValues);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 500, keys: 300);
        for (int i = 0; i < 300; i++)
            fixture.Put("many/" + i, (0, FieldValue.Of("w" + (i % 2))), (2, FieldValue.Of((long)i)));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        for (int i = 0; i < 60; i++)
        {
            IndexQuery query = random.Next(4) == 0 ? new MatchAllQuery() : data.Query(2);
            string[] sums = random.Next(2) == 0 ? [] : ["number"];
            foreach (string field in new[] { "name", "tag", "number", "text", "mixed", "rare" })
            {
                foreach (FacetHint hint in Enum.GetValues<FacetHint>())
                {
                    var facet = new FacetQuery
                    {
                        Field = field,
                        Aggregates = sums,
                        Order = (FacetOrder)random.Next(4),
                        Start = random.Next(3),
                        PageSize = random.Next(3) == 0 ? int.MaxValue : random.Next(12),
                        WithRemainingTerms = true,
                        Hint = hint,
                    };
                    Check(searcher, fixture.Model, query, facet);
                }
            }
        }
    }

    [Fact]
    public void Ranges_of_all_entries_are_counted_without_reading_lists()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        for (int i = 0; i < 6_000; i++)
            fixture.Put("docs/" + i, (0, FieldValue.Of("n" + i)), (2, FieldValue.Of((long)(i % 400))));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        var low = new RangeQuery("number", null, false, FieldValue.Of(100L), false);
        var facet = new FacetQuery
        {
            Ranges = [new FacetRange("low", low), new FacetRange("n", new PrefixQuery("name", "n1"))],
        };
        FacetResults all = Run(new MatchAllQuery(), facet);
        Assert.Equal([("low", 1_500L), ("n", 1_111L)], all.Facets[0].Values.Select(value => (value.Range, value.Count)));
        Assert.InRange(all.Counters.EntriesScanned, 0, 2_000);

        FacetResults some = Run(new NotQuery(new TermQuery("number", FieldValue.Of(7L))), facet);
        Assert.Equal([1_485L, 1_109L], some.Facets[0].Values.Select(value => value.Count));
        FacetResults summed = Run(new MatchAllQuery(), facet with { Aggregates = ["number"] });
        Assert.Equal([1_500L, 1_111L], summed.Facets[0].Values.Select(value => value.Count));
        Assert.Equal(49.5, summed.Facets[0].Values[0].Figures[0].Average);

        FacetResults Run(IndexQuery query, FacetQuery asked) =>
            searcher.Facets(new FacetRequest(query, [asked]), options: null, TestContext.Current.CancellationToken);
    }

    [Fact]
    public void Terms_of_an_index_with_changes_count_by_the_pages_that_were_asked_for()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        for (int i = 0; i < 60; i++)
            fixture.Put("docs/" + i, (0, FieldValue.Of("n" + i)), (1, FieldValue.Of("t" + i)));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        using var tail = new IndexTail(searcher);
        IndexBatch changes = tail.BeginBatch();
        changes.BeginEntry("docs/0"u8);
        changes.AddText(0, "n10"u8);
        changes.EndEntry();
        tail.Fill(changes, TestContext.Current.CancellationToken);
        FacetQuery[] facets =
            [new FacetQuery { Field = "name", PageSize = 10 }, new FacetQuery { Field = "tag", PageSize = 10 }];
        FacetResults both = Ask(100);
        Assert.Equal((60L, 10, 49L), (both.TotalCount, both.Facets[0].Values.Count, both.Facets[0].RemainingTermsCount));
        Assert.Equal(2, both.Facets[0].Values.Single(value => value.Range == "n10").Count);
        Assert.Equal((10, 49L), (both.Facets[1].Values.Count, both.Facets[1].RemainingTermsCount));
        Assert.Throws<IndexQueryException>(() => Ask(58)); // of one facet alone
        facets = [.. facets.Select(facet => facet with { WithRemainingTerms = true })];
        Assert.Throws<IndexQueryException>(() => Ask(100)); // all terms of both are wanted

        FacetResults Ask(int maxTerms) => searcher.Facets(
            new FacetRequest(new MatchAllQuery(), facets), tail, null, maxTerms, TestContext.Current.CancellationToken);
    }

    /// <summary>
    /// Thousands of entries with few texts, which lie in blocks, those that went and came again, and stretches with many texts or
    /// numbers, which do not: few hits of a block and many, with sums and without.
    /// </summary>
    [Fact]
    public void Groups_of_few_texts_are_those_of_a_scan_in_blocks_and_out_of_them()
    {
        var random = new Random(Seed.Next());
        using var fixture = new IndexFixture(RandomData.Schema);
        for (int round = 0; round < 3; round++)
        {
            // Several blocks that have the same texts are counted together.
            for (int i = 0; i < (round == 0 ? 12_000 : 5_000); i++)
            {
                int key = round == 0 ? i : random.Next(9_000);
                (int, FieldValue)[] number = random.Next(5) == 0 ? [] : [(2, FieldValue.Of((long)random.Next(1_000)))];
                FieldValue? group = (round, i / 2_500, random.Next(20)) switch
                {
                    (_, _, 0) => null,
                    (_, _, 1) => FieldValue.Null,
                    (1, 1, 2) => FieldValue.Of(random.Next(2) == 0),
                    (1, 1, _) => FieldValue.Of("many" + random.Next(200)),
                    (2, 0, 2) => FieldValue.Of((long)random.Next(9)),
                    _ => FieldValue.Of("g" + random.Next(1 + random.Next(30))),
                };
                fixture.Put("docs/" + key, group is { } value ? [(0, value), .. number] : number);
            }

            fixture.Commit();
            using var searcher = new IndexSearcher(fixture.Environment);
            foreach (IndexQuery query in new IndexQuery[]
            {
                new MatchAllQuery(), new RangeQuery("number", FieldValue.Of(100L), true, FieldValue.Of(600L), true),
                new RangeQuery("number", FieldValue.Of(700L), true, FieldValue.Of(702L), true)
            })
            {
                foreach (FacetHint hint in Enum.GetValues<FacetHint>())
                {
                    foreach (string[] sums in new string[][] { [], ["number"] })
                        Check(
                            searcher, fixture.Model, query,
                            new FacetQuery
                            {
                                Field = "name",
                                Aggregates = sums,
                                Order = FacetOrder.CountDescending,
                                PageSize = 40,
                                WithRemainingTerms = true,
                                Hint = hint
                            });
                }
            }
        }
    }

    [Fact]
    public void Ranges_count_what_meets_their_conditions_and_sums_are_over_those()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        for (int i = 0; i < 100; i++)
            fixture.Put("docs/" + i, (0, FieldValue.Of(i % 2 == 0 ? "even" : "odd")), (2, FieldValue.Of((long)i)));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        var facet = new FacetQuery
        {
            Ranges =
            [
                new FacetRange("small", new RangeQuery("number", null, false, FieldValue.Of(10L), false)),
                new FacetRange("big", new RangeQuery("number", FieldValue.Of(90L), true, null, false)),
                new FacetRange("none", new RangeQuery("number", FieldValue.Of(1000L), true, null, false)),
            ],
            Aggregates = ["number"],
        };
        FacetResults results = searcher.Facets(
            new FacetRequest(new TermQuery("name", FieldValue.Of("EVEN")), [facet, new FacetQuery { Field = "name" }]),
            new QueryOptions { Plan = PlanDetail.Counts },
            TestContext.Current.CancellationToken);
        Assert.Equal(50, results.TotalCount);
        Assert.Equal(
            [("small", 5L), ("big", 5L), ("none", 0L)], results.Facets[0].Values.Select(value => (value.Range, value.Count)));
        Assert.Equal(new FacetFigures(5, 20, 0, 8), results.Facets[0].Values[0].Figures[0]);
        Assert.Equal(94, results.Facets[0].Values[1].Figures[0].Average);
        Assert.Equal(0, results.Facets[0].Values[2].Figures[0].Average);
        Assert.Equal([("even", 50L)], results.Facets[1].Values.Select(value => (value.Range, value.Count)));
        // it was asked for
        Assert.Equal(
            ["term, short list", "facet of ranges", "facet of terms"], results.Plan!.Children.Select(child => child.Operation));
    }

    [Fact]
    public void A_facet_of_more_terms_than_its_limit_is_refused_with_that_limit()
    {
        var groups = new FacetGroups([], mostTerms: 2);
        Assert.Equal((0, 1, 0), (groups.PlaceOf("a"u8), groups.PlaceOf("b"u8), groups.PlaceOf("a"u8)));
        IndexQueryException error = Assert.Throws<IndexQueryException>(() => groups.PlaceOf("c"u8));
        Assert.StartsWith("A facet of the query has more than 2 terms", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_facet_over_what_is_not_there_or_no_number_is_refused()
    {
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.Put("docs/1", (0, FieldValue.Of("a")));
        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        FacetResults Run(FacetQuery facet) =>
            searcher.Facets(new FacetRequest(new MatchAllQuery(), [facet]), options: null, TestContext.Current.CancellationToken);
        Assert.Contains(
            "'nowhere'", Assert.Throws<UnknownFieldException>(() => Run(new FacetQuery { Field = "nowhere" })).Message,
            StringComparison.Ordinal);
        Assert.Throws<UnknownFieldException>(() => Run(new FacetQuery { Field = "name", Aggregates = ["nowhere"] }));
        Assert.Throws<IndexQueryException>(() => Run(new FacetQuery { Field = "name", Aggregates = ["text"] }));
        Assert.Throws<IndexQueryException>(() => Run(new FacetQuery { Field = "name", Start = -1 }));
    }

    /// <summary>Of a field with numbers, terms that are spelled as numbers are come first, by their values.</summary>
    private static int CompareTerms(string x, string y, bool hasNumbers)
    {
        if (!hasNumbers)
            return NaiveText.CompareText(x, y);
        return (NumberOf(x), NumberOf(y)) switch
        {
            ({ } left, { } right) => NaiveText.CompareNumbers(left, right),
            ({ }, null) => -1,
            (null, { }) => 1,
            _ => NaiveText.CompareText(x, y),
        };
    }

    private static FieldValue? NumberOf(string term)
    {
        if (long.TryParse(term, CultureInfo.InvariantCulture, out long whole))
            return whole.ToString(CultureInfo.InvariantCulture) == term ? FieldValue.Of(whole) : null;
        return double.TryParse(term, CultureInfo.InvariantCulture, out double real)
            && string.Equals(real.ToString("R", CultureInfo.InvariantCulture), term, StringComparison.OrdinalIgnoreCase)
                ? FieldValue.Of(real)
                : null;
    }

    private static void Check(IndexSearcher searcher, NaiveIndex model, IndexQuery query, FacetQuery facet)
    {
        FacetResults results = searcher.Facets(
            new FacetRequest(query, [facet]), options: null, TestContext.Current.CancellationToken);
        List<NaiveEntry> hits = [.. model.Entries.Where(entry => model.Matches(query, entry))];
        Assert.Equal(hits.Count, results.TotalCount);
        int field = model.Field(facet.Field!); // given above
        bool hasNumbers = model.Schema.Fields[field].Analysis != FieldAnalysis.FullText
            && model.Entries.Any(entry => entry.Of(field).Any(NaiveText.IsNumber));
        var groups = new List<(string Term, List<NaiveEntry> Entries)>();
        foreach (IGrouping<string, NaiveEntry> group in hits.SelectMany(
            entry => model.TermsOf(entry, field).Distinct().Select(term => (term, entry)))
                .GroupBy(pair => pair.term, pair => pair.entry))
            groups.Add((group.Key, [.. group]));
        groups.Sort((x, y) =>
        {
            int byTerm = CompareTerms(x.Term, y.Term, hasNumbers);
            int byCount = x.Entries.Count.CompareTo(y.Entries.Count);
            return facet.Order switch
            {
                FacetOrder.ValueDescending => -byTerm,
                FacetOrder.Count => byCount != 0 ? byCount : byTerm,
                FacetOrder.CountDescending => byCount != 0 ? -byCount : byTerm,
                _ => byTerm,
            };
        });

        FacetResult result = results.Facets[0];
        List<(string Term, List<NaiveEntry> Entries)> page = [.. groups.Skip(facet.Start).Take(facet.PageSize)];
        Assert.Equal(
            page.Select(group => (group.Term, (long)group.Entries.Count)),
            result.Values.Select(value => (value.Range, value.Count)));
        List<(string Term, List<NaiveEntry> Entries)> behind = [.. groups.Skip(facet.Start + page.Count)];
        Assert.Equal(behind.Select(group => group.Term), result.RemainingTerms);
        Assert.Equal(behind.Count, result.RemainingTermsCount);
        Assert.Equal(behind.Sum(group => (long)group.Entries.Count), result.RemainingHits);
        if (facet.Aggregates.Count == 0)
            return;
        for (int i = 0; i < page.Count; i++)
        {
            double[] numbers =
                [.. page[i].Entries.Select(entry => model.FirstNumber(entry, model.Field("number"))).OfType<double>()];
            FacetFigures figures = result.Values[i].Figures[0];
            Assert.Equal(numbers.Length, figures.Count);
            if (numbers.Length == 0)
                continue;
            Assert.Equal(numbers.Min(), figures.Min);
            Assert.Equal(numbers.Max(), figures.Max);
            if (numbers.All(number => Math.Abs(number) < 1e6))
                Assert.Equal(numbers.Sum(), figures.Sum, 1e-6);
        }
    }
}
