using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Matching;

/// <summary>
/// Phrases of up to 200 words, more than a mask has positions, of texts in which hardly a word is rare, against a scan.
/// </summary>
public sealed class LongPhraseTests
{
    private const int Entries = 9_000;

    private static readonly IndexSchema _schema = new([new IndexField("text", FieldAnalysis.FullText)]);

    [Fact]
    public void Long_phrases_are_found_where_a_scan_finds_them()
    {
        var random = new Random(Seed.Next());
        using var fixture = new IndexFixture(_schema);
        var texts = new List<string[]>();
        for (int i = 0; i < Entries; i++)
        {
            // Mostly short; of the long ones some repeat one or two words, and others what was there before, perhaps changed.
            int length = random.Next(20) > 0 ? random.Next(1, 6) : random.Next(50, 260);
            string[] text = [.. Enumerable.Range(0, length).Select(_ => Word(random))];
            if (length > 6 && random.Next(3) == 0)
                text = [.. Enumerable.Range(0, random.Next(50, 140)).Select(place => "often" + (place % (1 + (i % 2))))];
            else if (length > 6 && texts.Find(other => other.Length >= length) is { } known)
                text = known[..length];
            if (length > 6 && random.Next(4) == 0)
                text[random.Next(text.Length)] = Word(random);

            texts.Add(text);
            fixture.Put("e/" + i, (0, FieldValue.Of(string.Join(' ', text))));
        }

        fixture.Commit();
        using var searcher = new IndexSearcher(fixture.Environment);
        int found = 0;
        for (int i = 0; i < 50; i++)
        {
            string[] text = texts[random.Next(texts.Count)];
            while (text.Length < 50)
                text = texts[random.Next(texts.Count)];
            int length = random.Next(2, Math.Min(200, text.Length)), start = random.Next(text.Length - length);
            string[] phrase = text[start..(start + length)];
            if (random.Next(4) == 0)
                phrase[random.Next(length)] = Word(random);
            string words = string.Join(' ', phrase);
            List<string> expected =
            [
                .. Enumerable.Range(0, Entries)
                    .Where(entry => texts[entry].Length >= length && texts[entry].AsSpan().IndexOf(phrase) >= 0)
                    .Select(entry => "e/" + entry),
            ];
            found += expected.Count;
            var request = new SearchRequest { Query = new PhraseQuery("text", words) };
            Check(request);
            Check(request with { Sort = [new SortKey("", SortKind.Score, Descending: true)] });

            void Check(SearchRequest asked)
            {
                using SearchResults results = searcher.Search(asked, TestContext.Current.CancellationToken);
                List<string> keys = IndexFixture.Read(results);
                keys.Sort(static (x, y) => int.Parse(x.AsSpan(2), null).CompareTo(int.Parse(y.AsSpan(2), null)));
                Assert.True(
                    expected.SequenceEqual(keys),
                    $"{words}\nexpected {string.Join(' ', expected)}\nactual   {string.Join(' ', keys)}");
            }
        }

        Assert.True(found > 100, $"{found} entries have a phrase");
    }

    private static string Word(Random random) => random.Next(60) switch
    {
        0 => "rare" + random.Next(40),
        1 or 2 => "some" + random.Next(5),
        _ => "often" + random.Next(4),
    };
}
