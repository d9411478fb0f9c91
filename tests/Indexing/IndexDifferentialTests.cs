using Treepie.Indexing.Queries;
using Treepie.Indexing.Tests.Model;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>The index against a scan of all entries: the same ids, the same order, the same totals, while entries come and go.</summary>
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
    public void Every_kind_of_query_alone_answers_as_a_scan_does()
    {
        var random = new Random(Seed.Next());
        var data = new RandomData(random);
        using var fixture = new IndexFixture(RandomData.Schema);
        fixture.ChangeRandomly(random, data, changes: 600, keys: 1000);
        fixture.Commit();
        for (int kind = 0; kind < 11; kind++)
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
        Assert.NotEqual(all, fixture.Keys(new SearchRequest { Query = new MatchAllQuery(), Sort = [sort with { Seed = "other" }] }));
        Assert.NotEqual(all, all.Order());
    }
}
