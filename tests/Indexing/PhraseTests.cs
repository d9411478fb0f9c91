using System.Text;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>Words near one another, in lists of every form, against a scan, while entries come and go.</summary>
public sealed class PhraseTests
{
    private static readonly IndexSchema _schema = new([new IndexField("text", FieldAnalysis.FullText)]);

    [Theory]
    [InlineData("the quick fox", 0, false, "a")]
    [InlineData("quick fox", 0, false, "a c")]
    [InlineData("fox quick", 0, false, "")]
    [InlineData("fox quick", 1, false, "")]
    [InlineData("fox quick", 2, false, "a c")]
    [InlineData("fox quick", 9, true, "")]
    [InlineData("quick fox", 1, true, "a b c")]
    [InlineData("the fox", 0, false, "b")]
    [InlineData("the fox", 1, false, "a b")]
    [InlineData("fox the fox", 0, false, "b")]
    [InlineData("fox fox", 1, false, "b")]
    [InlineData("fox fox fox", 100, false, "")]
    [InlineData("end begin", 0, false, "")] // of two values
    [InlineData("end begin", 100, false, "d")]
    [InlineData("QUICK", 3, true, "a b c")]
    [InlineData("quick missing", 3, false, "")]
    [InlineData("-- !", 3, false, "")]
    public void A_phrase_is_where_its_words_are(string text, int slop, bool ordered, string expected)
    {
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        Put(batch, "a", "The quick fox");
        Put(batch, "b", "quick the fox the fox");
        Put(batch, "c", "a quick fox");
        Put(batch, "d", "one end", "begin two");
        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        Assert.Equal(expected, Find(store.Environment, new PhraseQuery("text", text, slop, ordered)));
    }

    [Fact]
    public void Every_word_of_a_long_text_is_there_at_its_place()
    {
        // Words go into a batch some at a time; these texts end before, at and behind such an end.
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        for (int words = 1; words <= 200; words++)
            Put(
                batch, words.ToString("D3", System.Globalization.CultureInfo.InvariantCulture),
                string.Join(' ', Enumerable.Range(1, words).Select(word => $"w{word} and")));
        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        for (int word = 2; word <= 200; word++)
        {
            string expected = string.Join(
                ' ',
                Enumerable.Range(word, 201 - word)
                    .Select(words => words.ToString("D3", System.Globalization.CultureInfo.InvariantCulture)));
            Assert.Equal(expected, Find(store.Environment, new PhraseQuery("text", $"w{word - 1} and w{word} and")));
        }
    }

    [Theory]
    [InlineData("\"quick fox\"", "a c")]
    [InlineData("\"the fox\" \"a quick\"", "b c")]
    [InlineData("quick-fox", "a c")]
    [InlineData("\"quick fox", "a b c d")] // a quote alone is none
    [InlineData("\"\"", "")]
    [InlineData("quic* \"", "a b c")]
    public void Quotes_make_a_phrase_within_a_full_text_query(string text, string expected)
    {
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        Put(batch, "a", "The quick fox");
        Put(batch, "b", "quick the fox the fox");
        Put(batch, "c", "a quick fox");
        Put(batch, "d", "fox");
        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        Assert.Equal(expected, Find(store.Environment, new FullTextQuery("text", text, All: false)));
    }

    [Fact]
    public void What_cannot_be_a_phrase_is_refused()
    {
        using var store = new TemporaryStore();
        _ = new IndexWriter(store.Environment, new IndexSchema([.. _schema.Fields, new IndexField("value")]));
        Assert.Contains(
            "slop", Assert.Throws<IndexQueryException>(() => Find(store.Environment, new PhraseQuery("text", "a b", -1))).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "slop",
            Assert.Throws<IndexQueryException>(
                () => Find(store.Environment, new PhraseQuery("text", "a b", int.MaxValue))).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "whole values",
            Assert.Throws<IndexQueryException>(() => Find(store.Environment, new PhraseQuery("value", "a b"))).Message,
            StringComparison.Ordinal);
        string many = string.Join(' ', Enumerable.Range(0, 2_000));
        Assert.Contains(
            "2,000 words",
            Assert.Throws<IndexQueryException>(() => Find(store.Environment, new PhraseQuery("text", many))).Message,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)] // windows of short texts alone are compared as a whole
    public void Phrases_in_lists_of_every_length_are_those_of_a_scan_while_entries_change(bool hasLongTexts)
    {
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        var model = new SortedDictionary<string, string[]>(StringComparer.Ordinal);
        IndexBatch batch = writer.BeginBatch();
        for (int round = 0; round < 4; round++)
        {
            int changes = round == 0 ? 9_000 : random.Next(1, 1_500);
            for (int i = 0; i < changes; i++)
            {
                string key = "e/" + random.Next(10_000);
                if (round > 0 && random.Next(3) == 0)
                {
                    batch.Delete(Encoding.UTF8.GetBytes(key));
                    model.Remove(key);
                    continue;
                }

                string[] words =
                    [.. Enumerable.Range(0, hasLongTexts ? LengthOf(random) : random.Next(20)).Select(_ => Word(random))];
                model[key] = words;
                Put(batch, key, string.Join(' ', words));
            }

            writer.Commit(batch, round + 1, TestContext.Current.CancellationToken);
            for (int i = 0; i < 25; i++)
            {
                string[] phrase = [.. Enumerable.Range(0, random.Next(2, 5)).Select(_ => Word(random))];
                string expected = string.Join(
                    ' ', model.Where(entry => Contains(entry.Value, phrase)).Select(entry => entry.Key));
                Assert.Equal(expected, Find(store.Environment, new PhraseQuery("text", string.Join(' ', phrase))));
                int slop = random.Next(3) == 0 ? random.Next(1, 70) : random.Next(1, 5);
                string near = string.Join(
                    ' ', model.Where(entry => IsNear(entry.Value, phrase[0], phrase[1], slop)).Select(entry => entry.Key));
                if (phrase[0] != phrase[1])
                    Assert.Equal(near, Find(store.Environment, new PhraseQuery("text", $"{phrase[0]} {phrase[1]}", slop)));
            }
        }

        // Everything goes, and with it every position.
        foreach (string key in model.Keys)
            batch.Delete(Encoding.UTF8.GetBytes(key));
        writer.Commit(batch, 99, TestContext.Current.CancellationToken);
        using (Storage.Transactions.ReadTransaction read = store.Environment.BeginRead())
        {
            Assert.Equal(0, read.FindTree("terms.0")!.Count); // made by the first commit
            Assert.Equal(0, read.FindTree("terms.0.postings")!.Count); // as above
            Assert.Equal(0, read.FindTree("terms.0.positions")!.Count); // as above
        }

        Assert.Empty(store.Environment.Check(cancellationToken: TestContext.Current.CancellationToken).Problems);
    }

    [Fact]
    public void Numbers_are_passed_over_by_vector_as_one_by_one()
    {
        var random = new Random(Seed.Next());
        byte[] bytes = new byte[400];
        for (int round = 0; round < 3_000; round++)
        {
            for (int i = 0; i < bytes.Length; i++)
                bytes[i] = (byte)(random.Next(4) == 0 ? random.Next(256) : random.Next(128));
            int length = random.Next(bytes.Length);
            int count = random.Next(450);
            Assert.Equal(
                VarintKernels.SkipScalar(bytes.AsSpan(0, length), count), VarintKernels.Skip(bytes.AsSpan(0, length), count));
        }
    }

    /// <summary>
    /// Short texts mostly; some go beyond 64 words, which masks of places tell apart, some beyond 128, from where on a place
    /// takes two bytes.
    /// </summary>
    private static int LengthOf(Random random) =>
        random.Next(200) switch { 0 => 900, < 12 => random.Next(140), _ => random.Next(20) };

    /// <summary>Words of every frequency: from one in two to one in ten thousand.</summary>
    private static string Word(Random random) => "w" + (int)Math.Floor(Math.Pow(random.NextDouble(), 4) * 3_000);

    private static bool Contains(string[] words, string[] phrase)
    {
        for (int i = 0; i + phrase.Length <= words.Length; i++)
        {
            if (words.AsSpan(i, phrase.Length).SequenceEqual(phrase))
                return true;
        }

        return false;
    }

    private static bool IsNear(string[] words, string first, string second, int slop)
    {
        for (int i = 0; i < words.Length; i++)
        {
            for (int j = 0; words[i] == first && j < words.Length; j++)
            {
                if (words[j] == second && Math.Abs(j - 1 - i) <= slop)
                    return true;
            }
        }

        return false;
    }

    private static void Put(IndexBatch batch, string key, params string[] values)
    {
        batch.BeginEntry(Encoding.UTF8.GetBytes(key));
        foreach (string value in values)
            batch.AddText(0, Encoding.UTF8.GetBytes(value));
        batch.EndEntry();
    }

    private static string Find(StorageEnvironment environment, IndexQuery query)
    {
        using var searcher = new IndexSearcher(environment);
        using SearchResults results = searcher.Search(new SearchRequest { Query = query });
        return string.Join(' ', IndexFixture.Read(results).Order(StringComparer.Ordinal));
    }
}
