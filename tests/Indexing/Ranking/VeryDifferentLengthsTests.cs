using System.Globalization;
using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Indexing.Tests.Ranking;

/// <summary>
/// Texts of one word beside texts of thousands: words whose only entries in a stretch of the index count next to nothing, and
/// words that count there more than anywhere. What the search leaves out by its bounds must be what cannot be among the best.
/// </summary>
public sealed class VeryDifferentLengthsTests
{
    private const int Entries = 14_000, Words = 24;

    private static readonly SortKey _best = new("", SortKind.Score, Descending: true);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public void The_best_hits_are_those_of_scoring_all_however_long_their_texts_are()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using StorageEnvironment environment = MemoryEnvironment.Open();
        var texts = new List<HashSet<int>>();
        Fill(environment, random, texts);
        using var searcher = new IndexSearcher(environment);
        int compared = 0;
        for (int round = 0; round < 220; round++)
        {
            int[] words = [.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => random.Next(Words))];
            bool all = random.Next(2) == 0;
            var request = new SearchRequest
            {
                Query = new FullTextQuery("text", string.Join(' ', words.Select(Word)), all),
                Sort = [_best],
                Take = random.Next(1, 25),
                CountsHits = false,
            };
            if (random.Next(4) == 0)
                request = request with { Query = new AndQuery([request.Query, new ExistsQuery("text")]) };
            HashSet<string> matching =
            [
                .. Enumerable.Range(0, Entries)
                    .Where(entry => all ? words.All(texts[entry].Contains) : words.Any(texts[entry].Contains))
                    .Select(Key),
            ];
            List<(string Key, float Score)> every = Hits(
                searcher, request with { OrderHint = OrderHint.Sort, CountsHits = true, Take = long.MaxValue });
            string what = $"seed {seed}, round {round}: {request.Query}";
            Assert.True(matching.SetEquals(every.Select(hit => hit.Key)), $"{what}: {every.Count} hits of {matching.Count}");
            Dictionary<string, float> scores = every.ToDictionary(hit => hit.Key, hit => hit.Score);
            foreach (SearchRequest way in (SearchRequest[])[request, request with { CountsHits = true }])
            {
                List<(string Key, float Score)> best = Hits(searcher, way);
                Assert.True(Math.Min(every.Count, way.Take) == best.Count, $"{what}: {best.Count} hits");
                for (int i = 0; i < best.Count; i++)
                {
                    Assert.True(IsNear(scores[best[i].Key], best[i].Score), $"{what}: {best[i]} {scores[best[i].Key]}");
                    Assert.True(IsNear(every[i].Score, best[i].Score), $"{what}: place {i} is {best[i]}, not {every[i]}");
                }

                compared += best.Count;
            }
        }

        Assert.True(compared > 1_000, $"only {compared} hits were compared");
    }

    /// <summary>
    /// Each stretch has words of its own, in texts of one or two words, or in one very long text alone; some words are in all.
    /// </summary>
    private static void Fill(StorageEnvironment environment, Random random, List<HashSet<int>> texts)
    {
        const int Stretch = 1_000;
        var writer = new IndexWriter(environment, new IndexSchema([new IndexField("text", FieldAnalysis.FullText)]));
        IndexBatch batch = writer.BeginBatch();
        string filler = string.Join(' ', Enumerable.Range(0, 1_500).Select(i => $"filler{i % 40}"));
        for (int entry = 0; entry < Entries; entry++)
        {
            int stretch = entry / Stretch;
            var words = new HashSet<int> { random.Next(3) };
            if (random.Next(3) == 0)
                words.Add(3 + (stretch % 7));
            bool isLong = entry % Stretch == 500;
            if (isLong)
                words.UnionWith(Enumerable.Range(0, 4).Select(_ => random.Next(Words)));
            string text = string.Join(' ', words.Select(Word));
            if (random.Next(9) == 0)
                text += " " + text;
            if (isLong)
                text += " " + string.Join(' ', Enumerable.Repeat(filler, random.Next(1, 6)));
            texts.Add(words);
            batch.BeginEntry(Encoding.UTF8.GetBytes(Key(entry)));
            batch.AddText(0, Encoding.UTF8.GetBytes(text));
            batch.EndEntry();
        }

        writer.Commit(batch, 1, Token);
    }

    private static bool IsNear(float expected, float actual) => Math.Abs(expected - actual) <= 1e-4 * Math.Max(1e-3, expected);

    private static string Key(int entry) => entry.ToString("'docs/'0", CultureInfo.InvariantCulture);

    private static string Word(int number) => number.ToString("'w'0", CultureInfo.InvariantCulture);

    private static List<(string Key, float Score)> Hits(IndexSearcher searcher, SearchRequest request)
    {
        using SearchResults results = searcher.Search(request, Token);
        var hits = new List<(string, float)>();
        while (results.MoveNext())
            hits.Add((Encoding.UTF8.GetString(results.Key), results.Score));
        return hits;
    }
}
