using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Matching;

/// <summary>
/// Conditions over one field that are looked up together find what each of them finds, with the same scores, and cost what one
/// costs.
/// </summary>
public sealed class ClauseMergerTests
{
    private static readonly string[] _names = ["name", "number", "mixed"];

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Conditions_side_by_side_find_what_a_scan_finds(bool singleValues)
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random, singleValues);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 200, keys: 150);
        for (int i = 0; i < 30; i++)
            fixture.Put("long/" + i, (0, FieldValue.Of(Long(random))));
        fixture.Commit();
        for (int i = 0; i < 80; i++)
        {
            IndexQuery query = Group(random, data, 2);
            fixture.Check(new SearchRequest { Query = query });
            fixture.Check(
                new SearchRequest
                {
                    Query = query,
                    Sort = [new SortKey("number", SortKind.Double), new SortKey("name", SortKind.Text)],
                    Take = random.Next(1, 20)
                });
            if (i % 3 == 0)
                fixture.CheckScores(new AndQuery([query, new FullTextQuery("text", "w1 w2 w3", All: false)]), random.Next(1, 30));
        }
    }

    [Fact]
    public void Bounds_of_one_field_are_one_range()
    {
        using IndexFixture fixture = Numbers();
        var low = new RangeQuery("number", FieldValue.Of(100L), true, null, false);
        var high = new RangeQuery("number", null, false, FieldValue.Of(200L), false);
        PlanNode merged = Plan(
            fixture, new AndQuery([high, new RangeQuery("number", FieldValue.Of(50.5), false, FieldValue.Of(900L), true), low]));
        PlanNode one = Plan(fixture, low with { High = FieldValue.Of(200L) });
        Assert.Equal(one.Children[0].Operation, merged.Children[0].Operation);
        Assert.Equal(one.Children[0].Label, merged.Children[0].Label);
        Assert.Equal(one.Children[0].Estimate, merged.Children[0].Estimate);
        Assert.Equal(100, merged.RowsIn);
    }

    [Fact]
    public void Of_several_values_one_may_meet_each_bound()
    {
        using IndexFixture fixture = Numbers();
        fixture.Put("several", (2, FieldValue.Of(5_000L)), (2, FieldValue.Of(9_000L)));
        fixture.Put("none", (2, FieldValue.Of(5_000L)), (2, FieldValue.Of(5_500L)));
        fixture.Commit();
        var low = new RangeQuery("number", FieldValue.Of(6_000L), true, null, false);
        var high = new RangeQuery("number", null, false, FieldValue.Of(8_000L), false);
        Assert.Equal(["several"], fixture.Keys(new SearchRequest { Query = new AndQuery([low, high]) }));
        Assert.Empty(fixture.Keys(new SearchRequest { Query = low with { High = FieldValue.Of(8_000L) } }));

        // But of bounds on one side the tightest says it all.
        PlanNode plan = Plan(
            fixture, new AndQuery([low, .. Enumerable.Range(0, 50).Select(i => low with { Low = FieldValue.Of((long)i) })]));
        Assert.Single(plan.Children);
        Assert.StartsWith("[6000", plan.Children[0].Label, StringComparison.Ordinal);
    }

    [Fact]
    public void A_value_and_a_range_over_its_field_are_the_value_or_nothing()
    {
        using IndexFixture fixture = Numbers();
        var value = new TermQuery("number", FieldValue.Of(7L));
        var range = new RangeQuery("number", FieldValue.Of(5L), true, FieldValue.Of(7L), true);
        Assert.Equal("term, short list", Plan(fixture, new AndQuery([range, value])).Children[0].Operation);
        Assert.Equal(["e/7"], fixture.Keys(new SearchRequest { Query = new AndQuery([range, value]) }));
        Assert.Equal(0, Plan(fixture, new AndQuery([range with { HighInclusive = false }, value])).RowsIn);
    }

    [Fact]
    public void What_is_merged_away_still_counts_in_scores()
    {
        using IndexFixture fixture = Numbers();
        for (int i = 0; i < 300; i++)
            fixture.Put("t/" + i, (2, FieldValue.Of((long)i)), (3, FieldValue.Of(i % 3 == 0 ? "fox" : "fox dog " + i)));
        fixture.Commit();
        IndexQuery[] bounds =
        [
            new RangeQuery("number", FieldValue.Of(10L), true, null, false),
            new RangeQuery("number", null, false, FieldValue.Of(250L), true),
            new RangeQuery("number", FieldValue.Of(5L), true, null, false)
        ];
        foreach (string text in (string[])["fox", "dog", "fox dog", "17"])
        {
            fixture.CheckScores(new AndQuery([.. bounds, new FullTextQuery("text", text, All: false)]), 20);
            fixture.CheckScores(new AndQuery([new MatchAllQuery(), new FullTextQuery("text", text, All: false)]), 20);
        }
    }

    [Fact]
    public void Many_ranges_and_many_patterns_are_one_pass()
    {
        using IndexFixture fixture = Numbers();
        PlanNode ranges = Plan(
            fixture,
            new OrQuery(
                [.. Enumerable.Range(0, 40)
                    .Select(i => new RangeQuery("number", FieldValue.Of(i * 10L), true, FieldValue.Of((i * 10L) + 3), false))]));
        Assert.Equal(("ranges", 120), (ranges.Children[0].Operation, ranges.RowsIn));
        PlanNode overlapping = Plan(
            fixture,
            new OrQuery(
                [.. Enumerable.Range(0, 40)
                    .Select(i => new RangeQuery("number", FieldValue.Of((long)i), true, FieldValue.Of(i + 1L), false))]));
        Assert.StartsWith("range,", overlapping.Children[0].Operation, StringComparison.Ordinal);
        Assert.StartsWith("[0, 40)", overlapping.Children[0].Label, StringComparison.Ordinal);
        Assert.Equal(40, overlapping.RowsIn);

        long one = TermsScanned(Plan(fixture, new SuffixQuery("name", "7")));
        Assert.Equal(1_000, one);
        IndexQuery[] endings = [.. Enumerable.Range(0, 25).Select(static i => new SuffixQuery("name", $"{2 * i}"))];
        IndexQuery[] expressions = [.. Enumerable.Range(0, 25).Select(static i => new RegexQuery("name", $"{(2 * i) + 1}$"))];
        foreach ((IndexQuery[] patterns, int passes) in ((IndexQuery[], int)[])
        [
            (endings, 1), (expressions, 1), ([.. endings, .. expressions], 2),
        ])
        {
            PlanNode together = Plan(fixture, new OrQuery(patterns));
            Assert.Equal(passes * one, TermsScanned(together));
            Assert.Equal(fixture.Model.Search(new SearchRequest { Query = new OrQuery(patterns) }).Count, together.RowsIn);
        }
    }

    [Fact]
    public void Patterns_that_are_too_much_together_are_looked_for_apart()
    {
        using IndexFixture fixture = Numbers();
        IndexQuery[] patterns =
            [.. Enumerable.Range(0, 24).Select(i => new RegexQuery("name", $"n{i % 10}.{{{i},400}}(a|b|{i})?.*{i}"))];
        fixture.Check(new SearchRequest { Query = new OrQuery(patterns) });
        fixture.Check(
            new SearchRequest
            {
                Query = new OrQuery([.. Enumerable.Range(0, 30).Select(i => new RegexQuery("name", $"(n|x){{1,900}}{i}"))])
            });
    }

    private static long TermsScanned(PlanNode node) => node.Counters.TermsScanned + node.Children.Sum(TermsScanned);

    /// <summary>Entries with the numbers 0 to 999 as numbers and, behind an n, as texts.</summary>
    private static IndexFixture Numbers()
    {
        var fixture = new IndexFixture(RandomData.Schema);
        for (int i = 0; i < 1_000; i++)
            fixture.Put("e/" + i, (0, FieldValue.Of("n" + i)), (2, FieldValue.Of((long)i)));
        fixture.Commit();
        return fixture;
    }

    private static PlanNode Plan(IndexFixture fixture, IndexQuery query)
    {
        using var searcher = new IndexSearcher(fixture.Environment);
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = query }, new QueryOptions { Plan = PlanDetail.Counts },
            TestContext.Current.CancellationToken);
        return results.Plan!; // it was asked for
    }

    /// <summary>Conditions over one or two fields, in groups of either kind.</summary>
    private static IndexQuery Group(Random random, RandomData data, int depth)
    {
        string[] fields = [_names[random.Next(_names.Length)], _names[random.Next(_names.Length)]];
        IndexQuery[] clauses = [
            .. Enumerable.Range(0, random.Next(8) == 0 ? 14 : random.Next(2, 6))
                .Select(_ => Clause(random, data, fields[random.Next(2)], depth))];
        IndexQuery group = random.Next(2) == 0 ? new AndQuery(clauses) : new OrQuery(clauses);
        return random.Next(6) == 0 ? new NotQuery(group) : group;
    }

    private static IndexQuery Clause(Random random, RandomData data, string field, int depth)
    {
        switch (random.Next(9))
        {
            case 0 when depth > 0:
                return Group(random, data, depth - 1);
            case 1:
                return new TermQuery(field, data.Value(4));
            case 2:
                return new SuffixQuery(field, data.Word() is { Length: > 0 } word ? word[^1..] : "");
            case 3:
                return new RegexQuery(field, random.Next(2) == 0 ? "^w[0-4]" : $"{random.Next(10)}.?w?");
            case 4 when field == "name":
                return new RangeQuery(
                    field, FieldValue.Of(Long(random)), random.Next(2) == 0,
                    random.Next(2) == 0 ? null : FieldValue.Of(Long(random)), random.Next(2) == 0);
            default:
                RangeQuery range = data.Range(field);
                RangeQuery half = random.Next(3) switch
                {
                    0 => range with { Low = null },
                    1 => range with { High = null },
                    _ =>
                    range
                };
                return (half.Low ?? half.High) is null ? range : half;
        }
    }

    /// <summary>Texts of which what the index keeps in its dictionary begins alike.</summary>
    private static string Long(Random random) => new string('l', 512 + random.Next(3)) + random.Next(8);
}
