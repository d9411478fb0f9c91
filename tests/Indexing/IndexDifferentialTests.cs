using Treepie.Indexing.Queries;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>
/// The index against a scan of all entries: the same ids, the same order, the same totals, while entries come and go.
/// </summary>
public sealed class IndexDifferentialTests
{
    [Fact]
    public void Random_queries_answer_as_a_scan_does_while_entries_change()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        for (int round = 0; round < 25; round++)
        {
            fixture.ChangeRandomly(random, data, changes: random.Next(1, 120), keys: 150);
            fixture.Commit();
            for (int i = 0; i < 40; i++)
                fixture.Check(data.Request());
            if (round % 8 == 7)
                fixture.Reopen();
        }

        fixture.CheckStorage();
    }

    [Fact]
    public void Texts_that_are_longer_than_a_term_answer_as_a_scan_does_while_entries_change()
    {
        var random = new Random(Seed.Next());
        string[] texts = [.. Enumerable.Range(0, 40).Select(_ => LongText(random))];
        FieldValue Pick() => FieldValue.Of(texts[random.Next(texts.Length)]);
        using var fixture = new IndexFixture(RandomData.Schema);
        for (int round = 0; round < 12; round++)
        {
            for (int i = 0; i < 40; i++)
            {
                string key = "long/" + random.Next(80);
                if (random.Next(4) == 0)
                    fixture.Delete(key);
                else if (round > 5 && random.Next(4) == 0)
                    fixture.Put(key, (0, Pick()), (0, Pick()), (1, Pick()));
                else
                    fixture.Put(key, (0, random.Next(9) == 0 ? FieldValue.Of("w") : Pick()), (1, Pick()));
            }

            fixture.Commit();
            for (int i = 0; i < 60; i++)
            {
                string field = random.Next(2) == 0 ? "name" : "tag";
                var range = new RangeQuery(
                    field, random.Next(4) == 0 ? null : Pick(), random.Next(2) == 0, random.Next(4) == 0 ? null : Pick(),
                    random.Next(2) == 0);
                IndexQuery query = random.Next(4) switch
                {
                    0 => new MatchAllQuery(),
                    1 => new InQuery(field, [Pick(), Pick()]),
                    2 => new AndQuery([range, new NotQuery(new TermQuery("tag", Pick()))]),
                    _ => range,
                };
                SortKind kind = random.Next(3) == 0 ? SortKind.AlphaNumeric : SortKind.Text;
                fixture.Check(new SearchRequest
                {
                    Query = query,
                    Sort = [new SortKey(random.Next(2) == 0 ? "name" : "tag", kind, random.Next(2) == 0, null)],
                    Take = random.Next(2) == 0 ? long.MaxValue : random.Next(30),
                });
            }

            if (round % 4 == 3)
                fixture.Reopen();
        }

        fixture.CheckStorage();
    }

    /// <summary>A text about as long as the longest terms, and the heads that longer ones are kept by.</summary>
    private static string LongText(Random random)
    {
        int shared = random.Next(4) switch
        {
            0 => random.Next(380, 388),
            1 => random.Next(508, 516),
            2 => 384,
            _ =>
            random.Next(380, 520)
        };
        int rest = random.Next(3) == 0 ? 0 : random.Next(140);
        return new string('w', shared) + new string((char)('u' + random.Next(4)), rest)
            + new[] { "", "a", "B", "2", "10", "x009" }[random.Next(6)];
    }

    [Fact]
    public void Orders_by_walk_and_by_sort_are_the_order_of_a_scan()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random, singleValues: true);
        using var fixture = new IndexFixture(RandomData.Schema);
        for (int round = 0; round < 12; round++)
        {
            fixture.ChangeRandomly(random, data, changes: random.Next(1, 150), keys: 150);

            // A null beside a value, and a list long enough to leave its dictionary.
            fixture.Put("null", (2, FieldValue.Null), (2, FieldValue.Of(5L)), (0, FieldValue.Null), (0, FieldValue.Of("w1")));
            for (int i = 0; i < (round == 6 ? 300 : 0); i++)
                fixture.Put("many/" + i, (0, FieldValue.Of("w5")), (2, FieldValue.Of(i % 3 == 0 ? 7.5 : 7.25)));
            fixture.Commit();
            for (int i = 0; i < 40; i++)
            {
                SearchRequest request = data.Request();
                SortKey first = new(
                    random.Next(2) == 0 ? "number" : "name", (SortKind)random.Next(3), random.Next(2) == 0,
                    random.Next(3) switch { 0 => null, 1 => true, _ => false });
                request = request with { Sort = [first, .. request.Sort] };
                if (random.Next(2) == 0)
                    request = request with
                    {
                        Query = random.Next(3) == 0
                            ? data.Range(first.Field)
                            : new AndQuery([request.Query, data.Range(first.Field)])
                    };
                foreach (OrderHint hint in Enum.GetValues<OrderHint>())
                {
                    fixture.Check(request with { OrderHint = hint });
                    fixture.Check(request with { OrderHint = hint, CountsHits = false });
                }
            }
        }
    }

    [Fact]
    public void Ranges_over_many_numbers_are_counted_as_a_scan_counts_them()
    {
        var random = new Random(Seed.Next());
        using var fixture = new IndexFixture(RandomData.Schema);
        for (int round = 0; round < 4; round++)
        {
            for (int i = 0; i < 1_500; i++)
            {
                string key = $"n/{random.Next(2_500)}";
                if (round > 0 && random.Next(3) == 0)
                    fixture.Delete(key);
                else
                    fixture.Put(
                        key,
                        (2, random.Next(4) == 0
                            ? FieldValue.Of(random.Next(1_000) / 4.0)
                            : FieldValue.Of((long)random.Next(-3_000, 3_000))),
                        (0, FieldValue.Of("w" + random.Next(3))));
            }

            fixture.Commit();
            for (int i = 0; i < 40; i++)
            {
                FieldValue? low = random.Next(6) == 0 ? null : FieldValue.Of((long)random.Next(-3_200, 3_200)),
                    high = random.Next(6) == 0 ? null : FieldValue.Of(random.Next(-6_400, 6_400) / 2.0);
                var range = new RangeQuery("number", low, random.Next(2) == 0, high, random.Next(2) == 0);
                var sorted = new SearchRequest
                {
                    Query = range,
                    Sort = [new SortKey("number", SortKind.Double, random.Next(2) == 0)],
                    Take = 7
                };
                fixture.Check(new SearchRequest { Query = range, Take = 0 });
                fixture.Check(sorted);
                fixture.Check(sorted with { Sort = [new SortKey("name", SortKind.Text)] });
                fixture.Check(sorted with { Query = new AndQuery([new TermQuery("name", FieldValue.Of("w1")), range]) });
                fixture.Check(
                    sorted with
                    {
                        Query = new AndQuery([new TermQuery("name", FieldValue.Of("w1")), range]),
                        CountsHits = false
                    });
            }
        }
    }

    [Fact]
    public void Every_kind_of_query_alone_answers_as_a_scan_does()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 600, keys: 1000);
        fixture.Commit();
        for (int kind = 0; kind < RandomData.Leaves; kind++)
        {
            for (int i = 0; i < 60; i++)
                fixture.Check(new SearchRequest { Query = data.Leaf(kind) });
        }
    }

    [Fact]
    public void Scores_equal_a_reference_computation_before_and_after_changes()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        for (int round = 0; round < 5; round++)
        {
            fixture.ChangeRandomly(random, data, changes: 80, keys: 100);
            fixture.Commit();
            for (int i = 0; i < 40; i++)
            {
                IndexQuery query = i % 2 == 0 ? data.Query(2) : new FullTextQuery("text", data.Text(3), All: false);
                fixture.CheckScores(query, random.Next(2) == 0 ? 5 : long.MaxValue);
            }
        }
    }

    [Fact]
    public void Random_order_is_the_same_on_every_page()
    {
        var random = new Random(Seed.Next());
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, new RandomData(random), changes: 300, keys: 1000);
        fixture.Commit();
        var sort = new SortKey("", SortKind.Random, Seed: "seed");
        List<string> all = fixture.Keys(new SearchRequest { Query = new MatchAllQuery(), Sort = [sort] });
        List<string> paged = [];
        for (int skip = 0; skip < all.Count; skip += 7)
            paged.AddRange(fixture.Keys(new SearchRequest { Query = new MatchAllQuery(), Sort = [sort], Skip = skip, Take = 7 }));
        Assert.Equal(all, paged);
        Assert.Equal(fixture.Model.Count, all.Distinct().Count());
        Assert.NotEqual(
            all, fixture.Keys(new SearchRequest { Query = new MatchAllQuery(), Sort = [sort with { Seed = "other" }] }));
        Assert.NotEqual(all, all.Order());
    }
}
