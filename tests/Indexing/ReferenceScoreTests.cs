using System.Text;
using System.Text.Json;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>BM25 of real text against the formula, computed from the texts alone, while they are changed and removed. <c>TREEPIE_VERSES=n</c> takes n verses.</summary>
public sealed class ReferenceScoreTests
{
    private static readonly IndexSchema Schema = new([new IndexField("text", FieldAnalysis.FullText)]);

    [Fact]
    public void Scores_of_verses_equal_the_formula_before_and_after_updates_and_removals()
    {
        int count = int.Parse(Environment.GetEnvironmentVariable("TREEPIE_VERSES") ?? "3000", System.Globalization.CultureInfo.InvariantCulture);
        string[] verses = [.. DataSets.Lines(DataSets.Require("verses-en.ndjson.gz")).Take(2 * count).Select(Text)];
        var random = new Random(Seed.Next());
        using var fixture = new IndexFixture(Schema);
        var texts = new Dictionary<string, string>(StringComparer.Ordinal);
        void Put(int number, string text)
        {
            fixture.Put("v/" + number, (0, FieldValue.Of(text)));
            texts["v/" + number] = text;
        }

        for (int i = 0; i < count; i++)
            Put(i, verses[i]);
        fixture.Commit();
        Check(fixture, texts, random);

        for (int i = 0; i < count / 2; i++)
            Put(random.Next(count), verses[count + random.Next(count)]);
        fixture.Commit();
        Check(fixture, texts, random);

        foreach (string key in texts.Keys.Where(_ => random.Next(3) == 0).ToArray())
        {
            fixture.Delete(key);
            texts.Remove(key);
        }

        fixture.Commit();
        Check(fixture, texts, random);
    }

    private static void Check(IndexFixture fixture, Dictionary<string, string> texts, Random random)
    {
        var words = texts.ToDictionary(text => text.Key, text => text.Value.Split(' ', StringSplitOptions.RemoveEmptyEntries));
        double average = words.Values.Where(all => all.Length > 0).Average(all => all.Length);
        int entries = words.Values.Count(all => all.Length > 0);
        string[][] some = [.. words.Values.Where(all => all.Length > 3)];
        using var searcher = new IndexSearcher(fixture.Environment);
        for (int i = 0; i < 25; i++)
        {
            string[] from = some[random.Next(some.Length)];
            string[] wanted = [.. Enumerable.Range(0, random.Next(1, 4)).Select(_ => from[random.Next(from.Length)]).Distinct()];
            var scores = new Dictionary<string, double>(StringComparer.Ordinal);
            foreach (string word in wanted)
            {
                int having = words.Values.Count(all => all.Contains(word));
                double idf = Math.Log(1 + ((entries - having + 0.5) / (having + 0.5)));
                foreach ((string key, string[] all) in words)
                {
                    int frequency = all.Count(other => other == word);
                    if (frequency > 0)
                        scores[key] = scores.GetValueOrDefault(key) + (idf * frequency / (frequency + (1.2 * (0.25 + (0.75 * all.Length / average)))));
                }
            }

            var request = new SearchRequest
            {
                Query = new FullTextQuery("text", string.Join(' ', wanted), All: false),
                Sort = [new SortKey("", SortKind.Score, Descending: true)],
                Take = 50,
            };
            using SearchResults results = searcher.Search(request, cancellationToken: TestContext.Current.CancellationToken);
            Assert.Equal(scores.Count, results.TotalCount);
            double[] best = [.. scores.Values.OrderDescending().Take(50)];
            int place = 0;
            for (; results.MoveNext(); place++)
            {
                Assert.Equal(scores[Encoding.UTF8.GetString(results.Key)], results.Score, 1e-5);
                Assert.Equal(best[place], results.Score, 1e-5);
            }

            Assert.Equal(best.Length, place);
        }
    }

    /// <summary>Letters in lower case and blanks: what a word is, is said by the blanks alone.</summary>
    private static string Text(string line)
    {
        using JsonDocument verse = JsonDocument.Parse(line);
        string text = verse.RootElement.GetProperty("text").GetString() ?? "";
        return string.Concat(text.Select(c => char.IsAsciiLetter(c) ? char.ToLowerInvariant(c) : ' '));
    }
}
