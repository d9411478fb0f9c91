using System.Globalization;
using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Matching;

/// <summary>
/// Phrases in more windows than are looked at together, with words of every frequency, against a scan: those that have it, how
/// many, and which are the best, whichever way they are asked for.
/// </summary>
public sealed class PhraseAheadTests
{
    private const float K1 = 1.2f;
    private static readonly IndexSchema _schema = new([new IndexField("text", FieldAnalysis.FullText), new IndexField("number")]);

    [Theory]
    [InlineData(280_000, false)] // 69 windows: more than of words with short lists are looked at together
    [InlineData(90_000, true)] // texts of which masks of places do not say all
    public void Phrases_are_those_of_a_scan_in_whatever_order_windows_are_asked_for(int count, bool hasLongTexts)
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        int[][] texts = new int[count][];
        for (int i = 0; i < count; i++)
        {
            // Words are rarer in some windows than in others.
            int least = (i >> 12) % 5 == 0 ? 2 : 0,
                length = hasLongTexts && random.Next(2_000) == 0 ? random.Next(50, 300) : random.Next(1, 6);
            texts[i] = [.. Enumerable.Range(0, length).Select(_ => Math.Max(least, Word(random)))];
            batch.BeginEntry(Encoding.UTF8.GetBytes(i.ToString(CultureInfo.InvariantCulture)));
            batch.AddText(0, Encoding.UTF8.GetBytes(Text(texts[i])));
            batch.AddLong(1, i % 7);
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        double average = texts.Average(static text => text.Length);
        using var searcher = new IndexSearcher(environment);
        for (int round = 0; round < 40; round++)
        {
            int[] phrase = [.. Enumerable.Range(0, random.Next(2, 5)).Select(_ => Word(random))];
            if (random.Next(2) == 0)
                phrase = Part(texts[random.Next(count)], phrase);
            (long Id, double Score)[] expected =
                [.. texts.Select((text, id) => ((long)id, Score(text, phrase, average))).Where(static hit => hit.Item2 > 0)];
            long[] best = [
                .. expected.OrderByDescending(static hit => hit.Score)
                    .ThenBy(static hit => hit.Id)
                    .Take(10)
                    .Select(static hit => hit.Id)];
            var query = new PhraseQuery("text", Text(phrase));
            var ranked = new SearchRequest
            {
                Query = query,
                Sort = [new Indexing.Queries.SortKey("", SortKind.Score, Descending: true)],
                Take = 10
            };
            foreach (RankHint hint in Enum.GetValues<RankHint>())
            {
                Assert.Equal((expected.Length, best), Ask(searcher, ranked, hint), Same);
                Assert.Equal(best, Ask(searcher, ranked with { CountsHits = false }, hint).Ids);
                Assert.Equal(
                    (expected.Length, [.. expected.Select(static hit => hit.Id)]),
                    Ask(searcher, new SearchRequest { Query = query, Take = int.MaxValue }, hint), Same);
            }

            // Others leave windows out, or ask for what they have left.
            long wanted = random.Next(7);
            var number = new TermQuery("number", FieldValue.Of(wanted));
            Assert.Equal(
                expected.Count(hit => hit.Id % 7 == wanted),
                Ask(searcher, ranked with { Query = new AndQuery([query, number]) }).Total);
            Assert.Equal(texts.LongLength - expected.Length, Ask(searcher, ranked with { Query = new NotQuery(query) }).Total);
            int[] other = [Word(random), Word(random)];
            int either = texts.Count(text => Score(text, phrase, average) > 0 || Score(text, other, average) > 0);
            Assert.Equal(
                either, Ask(searcher, ranked with { Query = new OrQuery([query, new PhraseQuery("text", Text(other))]) }).Total);
        }
    }

    private static bool Same((int Total, long[] Ids) expected, (int Total, long[] Ids) found) =>
        expected.Total == found.Total && expected.Ids.AsSpan().SequenceEqual(found.Ids);

    private static (int Total, long[] Ids) Ask(IndexSearcher searcher, SearchRequest request, RankHint hint = RankHint.Cheaper)
    {
        using SearchResults results = searcher.Search(
            request, new QueryOptions { Hints = new PlanHints { Rank = hint } }, TestContext.Current.CancellationToken);
        var ids = new List<long>();
        while (results.MoveNext())
            ids.Add(results.EntryId);
        return ((int)results.TotalCount, [.. ids]);
    }

    /// <summary>What sets the scores of two texts apart: how often they have the phrase, and how long they are.</summary>
    private static double Score(int[] text, int[] phrase, double average)
    {
        int found = 0;
        for (int i = 0; i + phrase.Length <= text.Length; i++)
            found += text.AsSpan(i, phrase.Length).SequenceEqual(phrase) ? 1 : 0;
        return found / (found + (K1 * (0.25 + (0.75 * text.Length / average))));
    }

    private static int[] Part(int[] text, int[] otherwise)
    {
        int length = Math.Min(text.Length, otherwise.Length);
        return length < 2 ? otherwise : text[..length];
    }

    private static string Text(int[] words) =>
        string.Join(' ', words.Select(static word => string.Create(CultureInfo.InvariantCulture, $"w{word}")));

    /// <summary>From one in four to a few of all.</summary>
    private static int Word(Random random) => (int)Math.Floor(Math.Pow(random.NextDouble(), 6) * 4_000);
}
