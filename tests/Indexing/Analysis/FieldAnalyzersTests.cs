using System.Text;
using Treepie.Indexing.Analysis;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Analysis;

/// <summary>Analyzers as an index uses them: by field, for writing and for queries.</summary>
public sealed class FieldAnalyzersTests
{
    private static readonly IndexSchema _schema = new(
    [
        new IndexField("english", FieldAnalysis.FullText, "EnglishAnalyzer"),
        new IndexField("grams", FieldAnalysis.FullText, "NGramAnalyzer(3,3)"),
        new IndexField("whole", FieldAnalysis.FullText, "KeywordAnalyzer"),
        new IndexField("own", FieldAnalysis.FullText, "Own"),
    ]);

    private static readonly AnalyzerSet _set = AnalyzerSet.BuiltIn.With("Own", new AnalyzerSetTests.Halves());

    [Fact]
    public void Each_field_is_written_and_asked_by_its_own_analyzer()
    {
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema, _set);
        IndexBatch batch = writer.BeginBatch();
        Put(batch, "a", "The runners were running", "Skyscraper", "New York", "abcd");
        Put(batch, "b", "A runner", "sky", "New", "abxy");
        writer.Commit(batch, 1, TestContext.Current.CancellationToken);

        Assert.Equal("a", Find(store.Environment, "english", "run"));
        Assert.Equal("a b", Find(store.Environment, "english", "Runner's"));
        Assert.Equal("a", Find(store.Environment, "english", "runs running"));
        Assert.Equal("a", Find(store.Environment, "grams", "cra"));
        Assert.Equal("a b", Find(store.Environment, "grams", "SKY"));
        Assert.Equal("a", Find(store.Environment, "grams", "skyscraper"));
        Assert.Equal("a", Find(store.Environment, "grams", "yscrape"));
        Assert.Equal("", Find(store.Environment, "grams", "skyscrapes"));
        Assert.Equal("b", Find(store.Environment, "whole", "New"));
        Assert.Equal("a", Find(store.Environment, "whole", "New*", "b"));
        Assert.Equal("a", Find(store.Environment, "own", "abcd"));
        Assert.Equal("b", Find(store.Environment, "own", "xyab"));
    }

    /// <summary>Against a look into every text: parts of words, whole words, and phrases of them, of any length.</summary>
    [Fact]
    public void Fragments_find_every_part_of_every_word()
    {
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        var writer = new IndexWriter(
            store.Environment, new IndexSchema([new IndexField("grams", FieldAnalysis.FullText, "NGramAnalyzer(2,4)")]));
        string[][] texts =
            [.. Enumerable.Range(0, 150).Select(_ => Enumerable.Range(0, random.Next(1, 6)).Select(_ => Word(1, 14)).ToArray())];
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < texts.Length; i++)
            Put(batch, $"{i}", string.Join(' ', texts[i]));
        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        for (int i = 0; i < 300; i++)
        {
            string[] of = texts[random.Next(texts.Length)];
            string asked = of[random.Next(of.Length)];
            int start = random.Next(asked.Length);
            asked = random.Next(4) switch
            {
                0 => Word(2, 9),
                1 => asked,
                _ =>
                asked[start..(start + random.Next(1, asked.Length - start + 1))]
            };
            string[] found = Find(store.Environment, "grams", asked).Split(' ', StringSplitOptions.RemoveEmptyEntries);

            // A part below the least size is found as a word alone. One longer than a fragment has all its fragments in one word,
            // which nearly always means that it is in there as a whole.
            string[] there =
                [.. Matching(word => asked.Length < 2 ? word == asked : word.Contains(asked, StringComparison.Ordinal))];
            string[] fragments = [
                .. Enumerable.Range(0, Math.Max(1, asked.Length - 3))
                    .Select(place => asked[place..Math.Min(asked.Length, place + 4)])];
            string[] nearly = [
                .. Matching(
                    word => asked.Length < 2
                        ? word == asked
                        : fragments.All(part => word.Contains(part, StringComparison.Ordinal)))];
            Assert.All(there, key => Assert.Contains(key, found));
            Assert.Equal(nearly, found);
        }

        string[] words = texts.First(text => text.Length > 2);
        Assert.Contains(
            $"{Array.IndexOf(texts, words)}",
            Find(store.Environment, "grams", $"\"{words[0]} {words[1]} {words[2]}\"").Split(' '));

        string Word(int least, int most) =>
            string.Concat(Enumerable.Range(0, random.Next(least, most + 1)).Select(_ => (char)('a' + random.Next(3))));
        IEnumerable<string> Matching(Func<string, bool> fits) =>
            Enumerable.Range(0, texts.Length).Where(i => texts[i].Any(fits)).Select(i => $"{i}").Order();
    }

    [Fact]
    public void What_an_own_analyzer_throws_leaves_nothing_of_the_value()
    {
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema, _set);
        IndexBatch batch = writer.BeginBatch();
        batch.BeginEntry("bad"u8);
        batch.AddText(0, "kept"u8);
        Assert.Throws<ArgumentOutOfRangeException>(() => batch.AddText(3, "odd"u8));
        batch.EndEntry();
        Put(batch, "good", "x", "x", "x", "abcd");
        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        Assert.Equal("bad", Find(store.Environment, "english", "kept"));
        Assert.Equal("", Find(store.Environment, "own", "o*"));
        Assert.Equal("good", Find(store.Environment, "own", "abcd"));
    }

    /// <summary>
    /// Words of several values have the positions that they have with the built-in analyzer, so phrases and distances find the
    /// same, although the words of an own one are collected before they are added.
    /// </summary>
    [Fact]
    public void Words_of_several_values_have_the_same_positions_by_an_own_analyzer()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using StorageEnvironment environment = MemoryEnvironment.Open();
        AnalyzerSet set = AnalyzerSet.BuiltIn.With("Spaces", new Spaces());
        var writer = new IndexWriter(
            environment,
            new IndexSchema(
            [
                new IndexField("plain", FieldAnalysis.FullText, "WhitespaceAnalyzer"),
                new IndexField("own", FieldAnalysis.FullText, "Spaces"),
            ]),
            set);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 150; i++)
        {
            batch.BeginEntry(Encoding.UTF8.GetBytes($"docs/{i}"));
            for (int values = random.Next(1, 5); values > 0; values--)
            {
                byte[] text = Encoding.UTF8.GetBytes(Text(random, random.Next(5)));
                batch.AddText(0, text);
                batch.AddText(1, text);
            }

            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        using var searcher = new IndexSearcher(environment, set);
        int several = 0;
        for (int i = 0; i < 150; i++)
        {
            IReadOnlyList<IndexEntryField>? fields = searcher.Entry(Encoding.UTF8.GetBytes($"docs/{i}"));
            Assert.NotNull(fields);
            Assert.Equal(fields[0].Terms, fields[1].Terms);
            Assert.Equal(
                fields[0].Positions.SelectMany(static at => at), fields[1].Positions.SelectMany(static at => at));
            several += fields[0].Positions.Any(static at => at.Any(static one => one > 5)) ? 1 : 0;
        }

        Assert.True(several > 50, $"only {several} entries had words behind the first value");
        for (int i = 0; i < 200; i++)
        {
            var phrase = new PhraseQuery("plain", Text(random, random.Next(1, 4)), random.Next(3) * 60);
            using SearchResults plain = searcher.Search(
                new SearchRequest { Query = phrase }, TestContext.Current.CancellationToken);
            using SearchResults own = searcher.Search(
                new SearchRequest { Query = phrase with { Field = "own" } }, TestContext.Current.CancellationToken);
            Assert.True(
                IndexFixture.Read(plain).SequenceEqual(IndexFixture.Read(own)), $"seed {seed}, round {i}: {phrase}");
        }
    }

    private static string Text(Random random, int words) =>
        string.Join(' ', Enumerable.Range(0, words).Select(_ => (char)('a' + random.Next(4))));

    /// <summary>Splits at spaces, as an analyzer of a user of the library does.</summary>
    private sealed class Spaces : Analyzer
    {
        public override void Analyze(ReadOnlySpan<byte> text, TokenSink sink)
        {
            for (int start = 0; start < text.Length;)
            {
                int length = text[start..].IndexOf((byte)' ');
                int end = length < 0 ? text.Length : start + length;
                if (end > start)
                    sink.Add(text[start..end], start, end);
                start = end + 1;
            }
        }
    }

    [Fact]
    public void A_schema_with_an_analyzer_that_cannot_be_is_refused()
    {
        using var store = new TemporaryStore();
        IndexSchemaException error = Assert.Throws<IndexSchemaException>(() => new IndexWriter(store.Environment, _schema));
        Assert.Contains("'own'", error.Message, StringComparison.Ordinal);
        Assert.Contains("no analyzer 'Own'", error.Message, StringComparison.Ordinal);
        error = Assert.Throws<IndexSchemaException>(
            () => new IndexWriter(
                store.Environment, new IndexSchema([new IndexField("a", FieldAnalysis.Keyword, "StopAnalyzer")])));
        Assert.Contains("only a full-text field", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void An_index_of_another_format_is_refused_before_anything_of_it_is_read()
    {
        using var store = new TemporaryStore();
        store.Environment.Write(transaction =>
        {
            Storage.Trees.Tree index = transaction.GetOrCreateTree(TreeNames.Index);
            index.Put("state"u8, [1, 0, 0, 0, .. new byte[32]]);
            index.Put("schema"u8, [0xFF]);
            return true;
        }, TestContext.Current.CancellationToken);
        Assert.Contains(
            "Reset the index", Assert.Throws<IndexSchemaException>(() => new IndexWriter(store.Environment, _schema, _set)).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "format 1", Assert.Throws<IndexSchemaException>(() => new IndexSearcher(store.Environment)).Message,
            StringComparison.Ordinal);
    }

    private static void Put(IndexBatch batch, string key, params string[] values)
    {
        batch.BeginEntry(Encoding.UTF8.GetBytes(key));
        for (int i = 0; i < values.Length; i++)
            batch.AddText(i, Encoding.UTF8.GetBytes(values[i]));
        batch.EndEntry();
    }

    private static string Find(StorageEnvironment environment, string field, string text, string without = "")
    {
        using var searcher = new IndexSearcher(environment, _set);
        using SearchResults results = searcher.Search(new SearchRequest { Query = new FullTextQuery(field, text, All: true) });
        return string.Join(' ', IndexFixture.Read(results).Where(key => key != without).Order());
    }
}
