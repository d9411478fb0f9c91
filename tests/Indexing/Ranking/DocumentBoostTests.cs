using System.Globalization;
using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Indexing.Tests.Ranking;

/// <summary>
/// The boost of a document multiplies its score and changes nothing else: an index with boosts beside one without, whichever way
/// the best hits are found.
/// </summary>
public sealed class DocumentBoostTests
{
    private const int Entries = 9_000;

    private static readonly IndexField[] _fields =
        [new("text", FieldAnalysis.FullText), new("name"), new("number")];

    private static readonly SortKey _best = new("", SortKind.Score, Descending: true);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void The_score_of_a_hit_is_that_without_a_boost_times_the_boost(int commits)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using StorageEnvironment plain = MemoryEnvironment.Open(), boosted = MemoryEnvironment.Open();
        var boosts = new Dictionary<string, double>();
        Fill(random, plain, boosted, boosts, commits);
        using IndexSearcher without = new(plain), with = new(boosted);
        int best = 0;
        for (int round = 0; round < 50; round++)
        {
            IndexQuery query = Query(random, 2);
            Dictionary<string, double> expected = Scores(without, new SearchRequest { Query = query, Sort = [_best] })
                .ToDictionary(hit => hit.Key, hit => hit.Score * boosts.GetValueOrDefault(hit.Key, 1));
            double[] ordered = [.. expected.Values.OrderDescending()];
            foreach (SearchRequest request in (SearchRequest[])
            [
                new() { Query = query, Sort = [_best] },
                new() { Query = query, Sort = [_best], Take = random.Next(1, 30) },
                new() { Query = query, Sort = [_best], Take = random.Next(1, 30), CountsHits = false },
                new() { Query = query, Sort = [_best], Take = 7, Skip = random.Next(40), CountsHits = false },
            ])
            {
                List<(string Key, double Score)> found = Scores(with, request);
                string what = $"seed {seed}, round {round}: {IndexFixture.Describe(request)}";
                int wanted = (int)Math.Min(Math.Max(0, ordered.Length - request.Skip), request.Take);
                Assert.True(wanted == found.Count, $"{what}: {found.Count} hits, {wanted} expected");
                for (int i = 0; i < found.Count; i++)
                {
                    Assert.True(IsNear(expected[found[i].Key], found[i].Score), $"{what}: {found[i]} {expected[found[i].Key]}");
                    Assert.True(IsNear(ordered[(int)request.Skip + i], found[i].Score), $"{what}: place {i} is {found[i]}");
                }

                best += found.Count;
            }

            Explained(with, query, boosts);
        }

        Assert.True(best > 2_000, $"only {best} hits were compared");
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    public void A_boost_that_would_turn_the_order_is_not_one(double boost)
    {
        using StorageEnvironment environment = MemoryEnvironment.Open();
        var writer = new IndexWriter(environment, new IndexSchema([.. _fields, new IndexField(IndexSchema.BoostField)]));
        IndexBatch batch = writer.BeginBatch();
        foreach (string key in (string[])["a", "b"])
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes(key));
            batch.AddText(0, "word"u8);
            batch.AddDouble(3, key == "a" ? boost : 1);
            batch.EndEntry();
        }

        writer.Commit(batch, 1, Token);
        using var searcher = new IndexSearcher(environment);
        foreach ((string key, double score) in Scores(
            searcher, new SearchRequest { Query = new FullTextQuery("text", "word", All: true), Sort = [_best] }))
            Assert.True(double.IsFinite(score) && score >= 0, $"{key} has the score {score}");
    }

    /// <summary>The explanation of the best hit has the boost in it and its score.</summary>
    private static void Explained(IndexSearcher searcher, IndexQuery query, Dictionary<string, double> boosts)
    {
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = query, Sort = [_best], Take = 1 }, Token);
        if (!results.MoveNext() || results.Score == 0)
            return;
        using ScoreExplainer explainer = searcher.OpenExplainer(query, Token);
        Treepie.Indexing.Ranking.ScoreExplanation explained = explainer.Explain(results.EntryId);
        Assert.True(IsNear(explained.Score, results.Score), $"{explained.Score} and {results.Score}");
        double boost = boosts.GetValueOrDefault(Encoding.UTF8.GetString(results.Key), 1);
        Assert.Single(explained.Parts);
        Assert.True(IsNear(explained.Score, explained.Parts[0].Score * boost), $"{explained.Score} with a boost of {boost}");
    }

    private static void Fill(
        Random random, StorageEnvironment plain, StorageEnvironment boosted, Dictionary<string, double> boosts, int commits)
    {
        IndexWriter without = new(plain, new IndexSchema(_fields)),
            with = new(boosted, new IndexSchema([.. _fields, new IndexField(IndexSchema.BoostField)]));
        IndexBatch[] batches = [without.BeginBatch(), with.BeginBatch()];
        for (int commit = 1; commit <= commits; commit++)
        {
            for (int i = 0; i < Entries / commits; i++)
            {
                string key = $"docs/{(commit == 1 ? i : random.Next(Entries))}";
                string text = string.Join(
                    ' ', Enumerable.Range(0, random.Next(8)).Select(_ => Word((int)(40 * Math.Pow(random.NextDouble(), 3)))));
                int name = random.Next(30), number = random.Next(500);
                foreach (IndexBatch batch in batches)
                {
                    batch.BeginEntry(Encoding.UTF8.GetBytes(key));
                    batch.AddText(0, Encoding.UTF8.GetBytes(text));
                    batch.AddText(1, Encoding.UTF8.GetBytes(Word(name)));
                    batch.AddLong(2, number);
                    if (batch == batches[1])
                        AddBoost(batch, key, random, boosts);
                    batch.EndEntry();
                }
            }

            without.Commit(batches[0], commit, Token);
            with.Commit(batches[1], commit, Token);
        }
    }

    /// <summary>Most have one boost; some none, and some several numbers, of which the first counts.</summary>
    private static void AddBoost(IndexBatch batch, string key, Random random, Dictionary<string, double> boosts)
    {
        boosts.Remove(key);
        int kind = random.Next(6);
        if (kind == 0)
            return;
        double boost = random.Next(1, 60) / 8.0;
        boosts[key] = boost;
        batch.AddDouble(3, boost);
        if (kind == 1)
            batch.AddDouble(3, 50);
    }

    private static IndexQuery Query(Random random, int depth)
    {
        if (depth == 0 || random.Next(2) == 0)
            return random.Next(6) switch
            {
                0 => new PhraseQuery("text", $"{Word(random.Next(6))} {Word(random.Next(6))}", random.Next(3)),
                1 => new TextQuery("text", Word(random.Next(40))),
                2 => new FullTextQuery("text", $"{Word(random.Next(9))} {Word(random.Next(40))}", All: true),
                3 => new TermQuery("name", FieldValue.Of(Word(random.Next(30)))),
                _ => new FullTextQuery(
                    "text", $"{Word(random.Next(9))} {Word(random.Next(40))} {Word(random.Next(40))}", All: false),
            };
        IndexQuery one = Query(random, depth - 1), other = Query(random, depth - 1);
        var range = new RangeQuery("number", FieldValue.Of((long)random.Next(250)), true, FieldValue.Of(400L), true);
        return random.Next(5) switch
        {
            0 => new OrQuery([one, other]),
            1 => new AndQuery([one, range]),
            2 => new AndQuery([one, new NotQuery(range)]),
            3 => new BoostQuery(one, random.Next(1, 4)),
            _ => new AndQuery([one, other]),
        };
    }

    private static string Word(int number) => number.ToString("'w'0", CultureInfo.InvariantCulture);

    private static bool IsNear(double expected, double actual) =>
        Math.Abs(expected - actual) <= 1e-4 * Math.Max(0.01, Math.Abs(expected));

    private static List<(string Key, double Score)> Scores(IndexSearcher searcher, SearchRequest request)
    {
        using SearchResults results = searcher.Search(request, Token);
        var hits = new List<(string, double)>();
        while (results.MoveNext())
            hits.Add((Encoding.UTF8.GetString(results.Key), results.Score));
        return hits;
    }
}
