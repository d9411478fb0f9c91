using System.Text;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>
/// Orders whose first key has few values: a page reads little of a group of equal values, and finds what reading and sorting all
/// hits finds.
/// </summary>
public sealed class EqualValuesTests(EqualValuesTests.Groups groups) : IClassFixture<EqualValuesTests.Groups>
{
    private const int Entries = 40_000;
    private const string Question = "how to order many equal values";

    private static readonly SortKey _byGroup = new("group", SortKind.Double, NullsFirst: false);
    private static readonly SortKey _byPart = new("part", SortKind.Double, NullsFirst: false);
    private static readonly SortKey _byName = new("name", SortKind.Text);

    [Fact]
    public void A_page_of_two_keys_visits_few_entries_of_the_first_group()
    {
        var request = new SearchRequest { Query = new MatchAllQuery(), Sort = [_byGroup, _byName], Take = 10 };
        using SearchResults page = Search(request, out PlanNode plan);
        Assert.Equal("walk the values of the second key", DecisionOf(plan));
        Assert.InRange(page.Counters.EntriesScanned, 10, 3_000);
        Assert.InRange(page.Counters.TermsScanned, 2, 1_000);
    }

    [Fact]
    public void A_walk_of_the_second_key_that_finds_too_little_is_given_up()
    {
        // the names of the last group come after those of all others
        var request = new SearchRequest
        {
            Query = new TermQuery("group", FieldValue.Of(5L)),
            Sort = [_byPart, _byName with { NullsFirst = false }],
            Take = 10,
            OrderHint = OrderHint.Walk,
        };
        string walked = Ask(request, out _);
        using SearchResults page = Search(request, out PlanNode plan);
        Assert.Equal("sort all of them", DecisionOf(plan));
        Assert.InRange(page.Counters.EntriesScanned, 1_000, Entries);
        Assert.Equal(Ask(request with { OrderHint = OrderHint.Sort }, out _), walked);
    }

    [Fact]
    public void The_next_page_within_equal_values_begins_after_the_last_hit()
    {
        var request = new SearchRequest { Query = new MatchAllQuery(), Sort = [_byGroup], Take = 10, WithPosition = true };
        for (int i = 0; i < 3; i++)
        {
            using SearchResults page = Search(request, out _);
            Assert.InRange(page.Counters.EntriesScanned, 10, 20);
            Assert.NotNull(page.Position);
            request = request with { After = page.Position };
        }
    }

    [Fact]
    public void Pages_of_all_orders_are_those_of_sorting_all_hits()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 60; round++)
        {
            var request = new SearchRequest
            {
                Query = random.Next(4) switch
                {
                    0 => new MatchAllQuery(),
                    1 => new TermQuery("part", FieldValue.Of((long)random.Next(6))),
                    2 => new NotQuery(new TermQuery("part", FieldValue.Of(2L))),
                    _ => new RangeQuery("group", FieldValue.Of((long)random.Next(4)), true, null, false),
                },
                Sort = [.. Keys(random).Take(random.Next(1, 4))],
                Skip = random.Next(3) == 0 ? random.Next(12_000) : 0,
                Take = random.Next(1, 80),
                CountsHits = random.Next(2) == 0,
                WithPosition = true,
            };
            for (int page = 0; page < 3; page++)
            {
                string expected = Ask(request with { OrderHint = OrderHint.Sort }, out _);
                Assert.True(expected == Ask(request, out _), $"TREEPIE_SEED={seed}: {request}, page {page}");
                string walked = Ask(request with { OrderHint = OrderHint.Walk }, out byte[]? position);
                Assert.True(expected == walked, $"TREEPIE_SEED={seed}: walk of {request}, page {page}");
                if (position is null)
                    break;
                request = request with { After = position, Skip = 0 };
            }
        }
    }

    private static SortKey[] Keys(Random random)
    {
        SortKey[] keys =
        [
            Directed(new("group", random.Next(2) == 0 ? SortKind.Long : SortKind.Double)),
            Directed(new("part", random.Next(2) == 0 ? SortKind.Text : SortKind.Double)),
            Directed(_byName), Directed(new("size", SortKind.Double)),
        ];
        random.Shuffle(keys);
        return keys;

        SortKey Directed(SortKey key) => key with
        {
            Descending = random.Next(2) == 0,
            NullsFirst = random.Next(3) switch { 0 => true, 1 => false, _ => null },
        };
    }

    private string Ask(SearchRequest request, out byte[]? position)
    {
        using SearchResults results = Search(request, out _);
        position = results.Position;
        var text = new StringBuilder();
        while (results.MoveNext())
            text.Append(' ').Append(results.EntryId);
        return text.ToString();
    }

    private SearchResults Search(SearchRequest request, out PlanNode plan)
    {
        using var searcher = new IndexSearcher(groups.Store.Environment);
        SearchResults results = searcher.Search(
            request, new QueryOptions { Plan = PlanDetail.Counts }, TestContext.Current.CancellationToken);
        plan = results.Plan ?? throw new InvalidOperationException("There is no plan.");
        return results;
    }

    private static string? DecisionOf(PlanNode plan) =>
        plan.Decisions.FirstOrDefault(static decision => decision.Question == Question)?.Chosen;

    /// <summary>Entries of few groups and parts, with names, sizes that are often equal, and some without a value.</summary>
    public sealed class Groups : IDisposable
    {
        public Groups()
        {
            Store = new TemporaryStore();
            var random = new Random(7);
            var writer = new IndexWriter(
                Store.Environment,
                new IndexSchema(
                    [new IndexField("group"), new IndexField("part"), new IndexField("name"), new IndexField("size")]));
            IndexBatch batch = writer.BeginBatch();
            for (int i = 0; i < Entries; i++)
            {
                int group = random.Next(6);
                batch.BeginEntry(Encoding.UTF8.GetBytes($"e/{i}"));
                if (random.Next(30) == 0)
                    batch.AddNull(0);
                else if (random.Next(30) == 0)
                    batch.AddDouble(0, group + 0.5); // as a long, the same as the group
                else
                    batch.AddLong(0, group);
                if (random.Next(5) > 0)
                    batch.AddLong(1, random.Next(6));
                if (random.Next(20) > 0)
                    batch.AddText(2, Encoding.UTF8.GetBytes($"{(group == 5 ? "z" : "n")}{random.Next(1_000_000):x5}"));
                if (random.Next(3) > 0)
                    batch.AddDouble(3, random.Next(4_000) / 4.0);
                batch.EndEntry();
            }

            writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        }

        internal TemporaryStore Store { get; }

        public void Dispose() => Store.Dispose();
    }
}
