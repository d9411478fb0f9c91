using System.Text;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.TopK;

/// <summary>
/// Words with filters, boosts and exclusions, as users write them: the same hits, scores and totals as by scoring every hit, and
/// the same way whether a plan or a budget is asked for or not.
/// </summary>
public sealed class BlockMaxSearchTests
{
    private static readonly SortKey[] _best = [new SortKey("", SortKind.Score, Descending: true)];

    /// <summary>So many that they are compared with the sort values of a word's entries.</summary>
    private static readonly RangeQuery _mostNumbers = new("number", FieldValue.Of(796L), true, FieldValue.Of(29_335L), false);

    private static readonly IndexSchema _schema = new(
    [
        new IndexField("text", FieldAnalysis.FullText), new IndexField("title", FieldAnalysis.FullText) { Boost = 2.5f },
        new IndexField("kind"), new IndexField("number"),
    ]);

    [Fact]
    public void Filters_boosts_and_exclusions_change_nothing_of_how_right_the_best_hits_are()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        int asked = 0, taken = 0;
        var ways = new HashSet<string>();
        foreach ((int entries, int longest) in new[] { (26_000, 9), (4_000, 40), (6_000, 3) })
        {
            Change(batch, random, entries, longest);
            writer.Commit(batch, writer.LastEtag + 1, TestContext.Current.CancellationToken);
            using var searcher = new IndexSearcher(environment);
            foreach (string word in new[] { "w0", "w25", "w300" })
                Check(
                    searcher,
                    new SearchRequest
                    {
                        Query = new AndQuery([new FullTextQuery("text", word, All: false), _mostNumbers]),
                        Sort = _best,
                        Take = 10
                    });
            IndexQuery nowhere = new FullTextQuery("text", "nowhere w0", All: true);
            Check(
                searcher,
                new SearchRequest
                {
                    Query = new OrQuery([nowhere, new FullTextQuery("text", "w25", All: false)]),
                    Sort = _best,
                    Take = 10
                });
            for (int i = 0; i < 250; i++, asked++)
            {
                PlanNode plan = Compare(searcher, Query(random), random);
                taken += plan.Operation == "best hits" ? 1 : 0;
                if (plan.Operation == "best hits")
                    ways.Add(plan.Decisions[0].Chosen);
            }
        }

        Assert.True(taken > asked * 3 / 4, $"{taken} of {asked} queries were ranked as lists and filters.");
        Assert.True(ways.Count >= 5, $"Ways taken: {string.Join(", ", ways)}.");
    }

    /// <summary>
    /// A constant beside a score may round scores that differ to the same number: then the smaller id comes first, which may not
    /// be among those kept with the word.
    /// </summary>
    [Theory]
    [InlineData(1e5f)]
    [InlineData(1e7f)]
    [InlineData(3e8f)]
    public void Scores_that_a_boosted_filter_rounds_to_the_same_are_in_the_order_of_ids(float boost)
    {
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 3_000; i++)
        {
            // The longest come first, so that the best by the word alone have the greatest ids.
            string text = string.Join(' ', Enumerable.Repeat("other", 200 - (i / 16))) + " word";
            Put(batch, i, text, "title", "k0", i);
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        using var searcher = new IndexSearcher(environment);
        var filter = new BoostQuery(new TermQuery("kind", FieldValue.Of("k0")), boost);
        IndexQuery[] queries =
        [
            new AndQuery([new FullTextQuery("text", "word", All: false), filter]),
            new AndQuery([filter, new FullTextQuery("text", "word other", All: false)]),
        ];
        foreach (IndexQuery query in queries)
            Check(searcher, new SearchRequest { Query = query, Sort = _best, Take = 10 });
    }

    [Fact]
    public void Words_of_which_one_is_nowhere_add_nothing_to_another_text()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        Change(batch, random, 3_000, 9);
        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        using var searcher = new IndexSearcher(environment);
        var missing = new FullTextQuery("title", "w2 nowhere", All: true);
        foreach (IndexQuery other in new IndexQuery[] { missing, new BoostQuery(missing, 3) })
            Check(
                searcher,
                new SearchRequest
                {
                    Query = new OrQuery([new FullTextQuery("text", "w0 w1", All: false), other]),
                    Sort = _best,
                    Take = 10
                });
    }

    private static PlanNode Compare(IndexSearcher searcher, IndexQuery query, Random random)
    {
        var request = new SearchRequest
        {
            Query = query,
            Sort = _best,
            Take = random.Next(3) switch { 0 => 1, 1 => 10, _ => random.Next(1, 300) },
            Skip = random.Next(4) == 0 ? random.Next(40) : 0,
            CountsHits = random.Next(3) > 0,
        };
        return Check(searcher, request);
    }

    /// <summary>Asks in all ways; returns the plan.</summary>
    private static PlanNode Check(IndexSearcher searcher, SearchRequest request)
    {
        (string expected, long total, _) = Ask(searcher, request with { OrderHint = OrderHint.Sort, CountsHits = true }, null);
        (string usual, long seen, QueryCounters counters) = Ask(searcher, request, null);
        Assert.Equal(expected, usual);
        bool isTotalRight = request.CountsHits ? seen == total : seen <= total && seen >= expected.Count(letter => letter == ':');
        Assert.True(isTotalRight, $"{request.Query}: {seen} of {total} hits");
        PlanNode? plan = null;
        QueryOptions[] all =
        [
            new() { Plan = PlanDetail.Counts }, new() { Plan = PlanDetail.Times },
            new() { Budget = new QueryBudget(Pages: long.MaxValue) },
            new() { Plan = PlanDetail.Times, Budget = new QueryBudget(Time: TimeSpan.FromHours(1)) },
        ];
        foreach (QueryOptions options in all)
        {
            using SearchResults results = searcher.Search(request, options, TestContext.Current.CancellationToken);
            Assert.Equal(usual, Text(results));
            Assert.Equal(counters, results.Counters); // the same work was done
            plan ??= results.Plan;
            Assert.Equal(Chosen(plan!), Chosen(results.Plan!)); // a plan is made for each of these
        }

        return plan!; // there are options
    }

    private static IEnumerable<string> Chosen(PlanNode plan) => plan.Decisions.Select(decision => decision.Chosen);

    private static (string Hits, long Total, QueryCounters Counters) Ask(
        IndexSearcher searcher, SearchRequest request, QueryOptions? options)
    {
        using SearchResults results = searcher.Search(request, options, TestContext.Current.CancellationToken);
        return (Text(results), results.TotalCount, results.Counters);
    }

    private static string Text(SearchResults results)
    {
        var text = new StringBuilder();
        while (results.MoveNext())
            text.Append(' ').Append(results.EntryId).Append(':').Append(BitConverter.SingleToInt32Bits(results.Score));
        return text.ToString();
    }

    private static IndexQuery Query(Random random)
    {
        IndexQuery text = Words(random);
        if (random.Next(8) == 0)
            text = random.Next(2) == 0 ? new OrQuery([text, Words(random)]) : new AndQuery([text, Words(random)]);
        List<IndexQuery> clauses = [text];
        for (int left = random.Next(4); left > 0; left--)
            clauses.Insert(random.Next(clauses.Count + 1), Filter(random));
        IndexQuery query = clauses.Count == 1 ? text : new AndQuery(clauses);
        return random.Next(6) == 0 ? new BoostQuery(query, 1 + random.Next(5)) : query;
    }

    private static IndexQuery Words(Random random)
    {
        int count = random.Next(5) switch { 0 or 1 => 1, 2 => 2, 3 => 3, _ => random.Next(2, 7) };
        string words = string.Join(' ', Enumerable.Range(0, count).Select(_ => random.Next(30) == 0 ? "nowhere" : Word(random)));
        IndexQuery text = new FullTextQuery(random.Next(5) == 0 ? "title" : "text", words, All: random.Next(2) == 0);
        return random.Next(6) == 0 ? new BoostQuery(text, random.Next(1, 8) / 2f) : text;
    }

    private static IndexQuery Filter(Random random)
    {
        IndexQuery filter = random.Next(8) switch
        {
            0 or 1 => new TermQuery("kind", FieldValue.Of("k" + random.Next(6))),
            2 => new TermQuery("number", FieldValue.Of((long)random.Next(40_000))),
            3 => new InQuery("kind", [FieldValue.Of("k1"), FieldValue.Of("k4")]),
            4 => new ExistsQuery("number"),
            5 => new TermQuery("text", FieldValue.Of(Word(random))),
            _ => new RangeQuery(
                "number", FieldValue.Of((long)random.Next(20_000)), true, FieldValue.Of(20_000L + random.Next(20_000)), false),
        };
        return random.Next(5) switch { 0 => new NotQuery(filter), 1 => new BoostQuery(filter, random.Next(1, 4)), _ => filter };
    }

    private static void Change(IndexBatch batch, Random random, int entries, int longest)
    {
        for (int i = 0; i < entries; i++)
        {
            int place = random.Next(40_000);
            if (random.Next(8) == 0)
            {
                batch.Delete(Encoding.UTF8.GetBytes("e/" + place));
                continue;
            }

            string kind = "k" + (random.Next(3) == 0 ? i / 5_000 : random.Next(6));
            Put(batch, place, Text(random, random.Next(longest + 1)), Text(random, random.Next(4)), kind, place);
        }
    }

    private static void Put(IndexBatch batch, int place, string text, string title, string kind, long number)
    {
        batch.BeginEntry(Encoding.UTF8.GetBytes("e/" + place));
        batch.AddText(0, Encoding.UTF8.GetBytes(text));
        batch.AddText(1, Encoding.UTF8.GetBytes(title));
        batch.AddText(2, Encoding.UTF8.GetBytes(kind));
        batch.AddLong(3, number);
        batch.EndEntry();
    }

    private static string Text(Random random, int words) =>
        string.Join(' ', Enumerable.Range(0, words).Select(_ => Word(random)));

    private static string Word(Random random) => "w" + (int)Math.Floor(Math.Pow(random.NextDouble(), 4) * 900);
}
