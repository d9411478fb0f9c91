using System.Text;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Matching;

/// <summary>
/// Ranges and prefixes of many texts: a page reads the values of few entries; once that cost more than gathering the texts, they
/// are gathered. The hits are those of gathering, whatever else the query says.
/// </summary>
public sealed class TextRangeTests(TextRangeTests.Names names) : IClassFixture<TextRangeTests.Names>
{
    private const int Entries = 30_000;
    private const string Question = "how to find the texts";

    [Theory]
    [InlineData("range")]
    [InlineData("prefix")]
    public void A_page_reads_the_values_of_few_entries(string kind)
    {
        IndexQuery wide = kind == "range" ? From("n2") : new PrefixQuery("name", "n");
        foreach (IndexQuery query in new[] { wide, new AndQuery([wide, Group(3)]) })
        {
            SearchResults page = Search(query, take: 10, countsHits: query == wide);
            Assert.Equal(10, page.Count);
            Assert.InRange(page.Counters.TermsScanned, 0, 600);
            Assert.InRange(page.Counters.EntriesScanned, 1, 8_192);
        }
    }

    [Fact]
    public void The_plan_says_when_the_texts_are_gathered()
    {
        PlanNode first = PlanOf(From("n2"));
        Assert.DoesNotContain(Decisions(first), decision => decision.Question == Question);

        // The names beginning with zz are those of the last entries, far behind the first that are compared.
        PlanNode last = PlanOf(new PrefixQuery("name", "zz"));
        Assert.Contains(Decisions(last), decision => decision.Question == Question);
    }

    [Fact]
    public void Comparing_finds_what_gathering_finds()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 150; round++)
        {
            IndexQuery wide = random.Next(3) switch
            {
                0 => new PrefixQuery("name", Name(random)[..1]),
                1 => From(Name(random)),
                _ => new RangeQuery(
                    "name", FieldValue.Of(Name(random)), random.Next(2) == 0, FieldValue.Of(Name(random)), random.Next(2) == 0),
            };
            IndexQuery query = random.Next(5) switch
            {
                0 => wide,
                1 => new AndQuery([wide, Group(random.Next(9))]),
                2 => new OrQuery([wide, Group(random.Next(9))]),
                3 => new NotQuery(wide),
                _ => new AndQuery([new NotQuery(Group(2)), wide, new NotQuery(From(Name(random)))]),
            };
            var request = new SearchRequest
            {
                Query = query,
                Sort = random.Next(3) switch
                {
                    0 => [],
                    1 => [new SortKey("group", SortKind.Long, Descending: true)],
                    _ => [new SortKey("name", SortKind.Text, random.Next(2) == 0)],
                },
                Skip = random.Next(2) == 0 ? 0 : random.Next(8_000),
                Take = random.Next(1, 200),
                CountsHits = random.Next(2) == 0,
            };
            string expected = Ask(request, RangeHint.Gather);
            foreach (RangeHint hint in new[] { RangeHint.Cheaper, RangeHint.Column })
                Assert.True(expected == Ask(request, hint), $"TREEPIE_SEED={seed}: {query}, {hint}");
        }
    }

    private static RangeQuery From(string low) => new("name", FieldValue.Of(low), true, null, false);

    private static TermQuery Group(long group) => new("group", FieldValue.Of(group));

    private static string Name(Random random) => random.Next(12) switch
    {
        0 => "n",
        1 => "z" + random.Next(10_000),
        2 => "é" + random.Next(100),
        3 => $"{random.Next(1_000)}",
        _ => $"n{random.Next(1_000_000):x5} of many",
    };

    private string Ask(SearchRequest request, RangeHint hint)
    {
        using var searcher = new IndexSearcher(names.Store.Environment);
        using SearchResults results = searcher.Search(
            request, new QueryOptions { Hints = new PlanHints { Range = hint } }, TestContext.Current.CancellationToken);
        var text = new StringBuilder();
        if (request.CountsHits)
            text.Append(results.TotalCount);
        while (results.MoveNext())
            text.Append(' ').Append(results.EntryId);
        return text.ToString();
    }

    private SearchResults Search(IndexQuery query, int take, bool countsHits)
    {
        using var searcher = new IndexSearcher(names.Store.Environment);
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = query, Take = take, CountsHits = countsHits },
            TestContext.Current.CancellationToken);
        return results;
    }

    private PlanNode PlanOf(IndexQuery query)
    {
        using var searcher = new IndexSearcher(names.Store.Environment);
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = query, Take = 10 }, new QueryOptions { Plan = PlanDetail.Counts },
            TestContext.Current.CancellationToken);
        Assert.NotNull(results.Plan);
        return results.Plan;
    }

    private static IEnumerable<PlanDecision> Decisions(PlanNode node) =>
        [.. node.Decisions, .. node.Children.SelectMany(Decisions)];

    /// <summary>Entries with a name of their own, some with a number, a truth value, null or nothing instead.</summary>
    public sealed class Names : IDisposable
    {
        public Names()
        {
            Store = new TemporaryStore();
            var random = new Random(5);
            var writer = new IndexWriter(
                Store.Environment, new IndexSchema([new IndexField("name"), new IndexField("group")]));
            for (int part = 0; part < 2; part++)
            {
                IndexBatch batch = writer.BeginBatch();
                for (int i = 0; i < Entries / 2; i++)
                    Put(batch, (part * Entries / 2) + i, random);
                for (int i = 0; part == 1 && i < 500; i++)
                    batch.Delete(Key(random.Next(Entries)));
                writer.Commit(batch, part + 1, TestContext.Current.CancellationToken);
            }
        }

        internal TemporaryStore Store { get; }

        public void Dispose() => Store.Dispose();

        private static void Put(IndexBatch batch, int number, Random random)
        {
            batch.BeginEntry(Key(number));
            switch (number >= Entries - 2_000 ? 99 : random.Next(40))
            {
                case 0:
                    batch.AddLong(0, random.Next(1_000));
                    break;
                case 1:
                    batch.AddNull(0);
                    break;
                case 2:
                    break;
                case 3:
                    batch.AddText(0, Encoding.UTF8.GetBytes(new string('n', 600) + number));
                    break;
                case 99:
                    batch.AddText(0, Encoding.UTF8.GetBytes("zz" + number));
                    break;
                default:
                    batch.AddText(0, Encoding.UTF8.GetBytes(Name(random)));
                    break;
            }

            batch.AddLong(1, random.Next(10));
            batch.EndEntry();
        }

        private static byte[] Key(int number) => Encoding.UTF8.GetBytes($"e/{number}");
    }
}
