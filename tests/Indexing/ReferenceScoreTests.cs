using System.Text;
using System.Text.Json;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>
/// Real text against what is computed from the texts alone: scores against the formula of BM25, phrases and what stands near one
/// another against a scan, while texts are changed and removed, after what is gone was tidied away, and after a start.
/// <c>TREEPIE_VERSES=n</c> takes n verses: 100000000 all of them.
/// </summary>
public sealed class ReferenceScoreTests
{
    private static readonly IndexSchema _schema = new([new IndexField("text", FieldAnalysis.FullText)]);

    [Fact]
    public void Scores_phrases_and_nearness_of_verses_are_those_of_a_scan_before_and_after_updates_and_removals()
    {
        int count = int.Parse(
            Environment.GetEnvironmentVariable("TREEPIE_VERSES") ?? "3000", System.Globalization.CultureInfo.InvariantCulture);
        string[] verses = [
            .. DataSets.Lines(DataSets.PathOf("verses-en.ndjson.gz")).Take((int)Math.Min(2L * count, int.MaxValue)).Select(Text)];
        count = Math.Min(count, verses.Length / 2);
        var random = new Random(Seed.Next());
        using var fixture = new IndexFixture(_schema);
        var texts = new Dictionary<string, string>(StringComparer.Ordinal);
        void Put(int number, string text)
        {
            fixture.Put("v/" + number, (0, FieldValue.Of(text)));
            texts["v/" + number] = text;
        }

        for (int i = 0; i < count; i++)
        {
            Put(i, verses[i]);
            if (i % 50_000 == 49_999)
                fixture.Commit();
        }

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
        fixture.Tidy();
        fixture.Reopen();
        Check(fixture, texts, random);
        foreach (string key in texts.Keys.Skip(5).ToArray())
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
                        scores[key] = scores.GetValueOrDefault(key)
                            + (idf * frequency / (frequency + (1.2 * (0.25 + (0.75 * all.Length / average)))));
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

        for (int i = 0; i < 25; i++)
            CheckNear(searcher, words, some[random.Next(some.Length)], random);
    }

    /// <summary>Words of one verse, as they stand there or nearly so, among all verses.</summary>
    private static void CheckNear(IndexSearcher searcher, Dictionary<string, string[]> words, string[] from, Random random)
    {
        int first = random.Next(from.Length - 1), slop = random.Next(3) == 0 ? 0 : random.Next(6);
        string[] wanted = [.. from.Skip(first).Take(random.Next(2, 4))];
        if (slop > 0)
            wanted = [
                .. wanted.Select((word, place) => random.Next(3) == 0 ? from[Math.Min(from.Length - 1, first + place + 1)] : word)
                    .OrderBy(_ => random.Next(3))];
        string[] expected =
            [.. words.Where(verse => IsNear(verse.Value, wanted, slop)).Select(verse => verse.Key).Order(StringComparer.Ordinal)];
        using SearchResults found = searcher.Search(
            new SearchRequest { Query = new PhraseQuery("text", string.Join(' ', wanted), slop) },
            cancellationToken: TestContext.Current.CancellationToken);
        Assert.Equal(expected.Length, found.TotalCount);
        Assert.Equal(expected, IndexFixture.Read(found).Order(StringComparer.Ordinal));
    }

    /// <summary>
    /// Whether all words stand at most so many places behind where they would stand in the phrase, from any start on, no two of
    /// them in one place.
    /// </summary>
    private static bool IsNear(string[] verse, string[] wanted, int slop)
    {
        for (int start = -slop; start < verse.Length; start++)
            if (Fits(start, 0, []))
                return true;
        return false;

        bool Fits(int start, int next, int[] taken)
        {
            if (next == wanted.Length)
                return true;
            for (int place = Math.Max(0, start + next); place <= Math.Min(verse.Length - 1, start + next + slop); place++)
                if (verse[place] == wanted[next] && !taken.Contains(place) && Fits(start, next + 1, [.. taken, place]))
                    return true;
            return false;
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
