using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Matching;

/// <summary>
/// Queries of one word, answered by what stands beside it, against scoring every hit: the same entries, scores, totals and
/// counters.
/// </summary>
public sealed class WordSearchTests
{
    private static readonly SortKey[] _best = [new SortKey("", SortKind.Score, Descending: true)];

    private static readonly IndexSchema _schema = new(
    [
        new IndexField("text", FieldAnalysis.FullText), new IndexField("other", FieldAnalysis.FullText),
        new IndexField("boosted", FieldAnalysis.FullText) { Boost = 2.5f }, new IndexField("whole"),
    ]);

    [Fact]
    public void A_word_alone_finds_what_the_operators_find_while_entries_come_go_and_grow_longer()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        foreach (int longest in new[] { 8, 30, 400, 4, 2, 80 })
        {
            Change(batch, random, writer.LastEtag == 0 ? 9_000 : 2_000, longest);
            writer.Commit(batch, writer.LastEtag + 1, TestContext.Current.CancellationToken);
            for (int i = 0; i < 150; i++)
                Compare(
                    environment,
                    new FullTextQuery(Field(random), random.Next(20) == 0 ? "nowhere" : Word(random), random.Next(2) == 0),
                    random);
        }
    }

    [Fact]
    public void Words_all_of_which_are_wanted_find_what_the_operators_find_be_their_lists_short_or_long()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, new IndexSchema([new IndexField("text", FieldAnalysis.FullText)]));
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 70_000; i++)
        {
            // Of windows of 4,096 some are full of words that others have not, so that there are bitmaps and gaps.
            batch.BeginEntry(Encoding.UTF8.GetBytes("e/" + i));
            int cluster = (i >> 12) % 5 == 0 && random.Next(4) == 0 ? 1 : 0;
            batch.AddText(
                0,
                Encoding.UTF8.GetBytes(
                    string.Join(
                        ' ',
                        Enumerable.Range(0, random.Next(1, 9))
                            .Select(_ => cluster > 0 ? "w" + random.Next(40, 60) : Word(random)))));
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        for (int i = 0; i < 70_000; i += random.Next(1, 60))
            batch.Delete(Encoding.UTF8.GetBytes("e/" + i));
        writer.Commit(batch, 2, TestContext.Current.CancellationToken);
        int answered = 0, found = 0, probed = 0;
        for (int i = 0; i < 1_500; i++)
        {
            string[] words = [
                .. Enumerable.Range(0, random.Next(8) == 0 ? random.Next(2, 6) : 2)
                    .Select(
                        _ => random.Next(40) == 0 ? "nowhere" : random.Next(3) == 0 ? "w" + random.Next(30, 70) : Word(random))];
            if (random.Next(10) == 0)
            {
                // A word twice beside a frequent one: two merged lists that have hits in common everywhere, looked up in a third.
                string twice = "w" + random.Next(36, 56);
                words = ["w0", twice, twice];
            }
            else if (random.Next(5) == 0)
            {
                // One or two rarer words among frequent ones.
                words = [
                    .. new[] { "w0", "w" + random.Next(1, 4), "w" + random.Next(30, 70), "w" + random.Next(30, 70) }.Take(
                        random.Next(2, 5))];
                words[^1] = "w" + random.Next(30, 70);
                random.Shuffle(words);
            }

            var query = new FullTextQuery("text", string.Join(' ', words), All: true);
            (bool isAnswered, long hits) = Compare(environment, query, random);
            (answered, found) = (answered + (isAnswered ? 1 : 0), found + (hits > 0 ? 1 : 0));
            probed += isAnswered && hits > 0 && words.Contains("w0") ? 1 : 0;
        }

        Assert.True(
            answered > 300 && found > 100 && probed > 50,
            $"Without operators {answered} of 1,500 queries were answered, {found} had hits, {probed} with a frequent word.");
    }

    [Theory]
    [InlineData("w1 w2")]
    [InlineData("w1 w1")]
    [InlineData("w2  w1 w3")]
    [InlineData("w1 w2 w3 w4 w5 w6")]
    [InlineData("w1 … w2")]
    [InlineData("w1 w2\u3000w3")]
    [InlineData("w1 -")]
    [InlineData("w1 \"w2\"")]
    [InlineData("w1 w2*")]
    [InlineData(" w1 ")]
    [InlineData("W1")]
    [InlineData("w1*")]
    [InlineData("*1")]
    [InlineData("\"w1\"")]
    [InlineData("\"w1 w2\"")]
    [InlineData("w1-w2")]
    [InlineData("w1\u00A0w2")]
    [InlineData("\u3000w1")]
    [InlineData("")]
    [InlineData("…")]
    [InlineData("\uD800w1")]
    [InlineData("Straße")]
    [InlineData("漢字")]
    [InlineData("a-text-of-more-than-sixty-four-characters-that-has-several-words-w1-w2")]
    [InlineData("atextofmorethansixtyfourcharactersthatisonewordandnothingbutonewordw1")]
    public void Texts_that_are_more_than_a_word_or_less_find_what_they_found(string text)
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        Change(batch, random, 800, longest: 30, text);
        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        foreach (string field in new[] { "text", "other", "boosted", "whole" })
        {
            Compare(environment, new FullTextQuery(field, text, All: false), random);
            Compare(environment, new FullTextQuery(field, text, All: true), random);
        }
    }

    [Fact]
    public void Numbers_that_documents_multiply_their_scores_with_count_for_a_word_alone()
    {
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(
            environment,
            new IndexSchema([new IndexField("text", FieldAnalysis.FullText), new IndexField(IndexSchema.BoostField)]));
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 5; i++)
        {
            batch.BeginEntry([(byte)i]);
            batch.AddText(0, "word"u8);
            batch.AddLong(1, 1 + i);
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        using var searcher = new IndexSearcher(environment);
        using SearchResults results = searcher.Search(
            new SearchRequest { Query = new FullTextQuery("text", "word", All: false), Sort = _best, Take = 1 },
            TestContext.Current.CancellationToken);
        Assert.True(results.MoveNext());
        Assert.Equal([4], results.Key.ToArray());
    }

    [Fact]
    public void A_word_is_found_again_after_pages_were_released()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        Change(batch, random, 3_000, longest: 30);
        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        using var searcher = new IndexSearcher(environment);
        for (int i = 0; i < 40; i++)
        {
            var request = new SearchRequest
            {
                Query = new FullTextQuery("text", Word(random), All: false),
                Sort = _best,
                Take = 10
            };
            string first = Ask(searcher, request, null);
            searcher.ReleasePages();
            Assert.Equal(first, Ask(searcher, request, null));
        }
    }

    [Fact]
    public void Fields_that_are_not_there_and_negative_pages_are_refused()
    {
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        Change(batch, new Random(1), 10, longest: 5);
        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        using var searcher = new IndexSearcher(environment);
        var request = new SearchRequest { Query = new FullTextQuery("nothing", "w1", All: false), Sort = _best, Take = 10 };
        Assert.Throws<UnknownFieldException>(() => searcher.Search(request, TestContext.Current.CancellationToken));
        Assert.Throws<ArgumentOutOfRangeException>(
            () => searcher.Search(request with { Take = -1 }, TestContext.Current.CancellationToken));
        Assert.Throws<ArgumentOutOfRangeException>(
            () => searcher.Search(request with { Skip = -1 }, TestContext.Current.CancellationToken));
        Assert.Throws<OperationCanceledException>(
            () => searcher.Search(
                request with { Query = new FullTextQuery("text", "w1", All: false) }, new CancellationToken(canceled: true)));
    }

    /// <summary>Compares all ways; returns whether it was answered without operators, and how many hits there are.</summary>
    private static (bool IsAnswered, long Hits) Compare(StorageEnvironment environment, FullTextQuery query, Random random)
    {
        var request = new SearchRequest
        {
            Query = query,
            Sort = _best,
            Take = random.Next(3) switch { 0 => 1, 1 => 10, _ => random.Next(0, 50) },
            Skip = random.Next(3) switch { 0 => random.Next(5), 1 => random.Next(50), _ => 0 },
            CountsHits = random.Next(2) == 0,
        };
        using var searcher = new IndexSearcher(environment);
        string answer = Ask(searcher, request, null);
        using SearchResults plain = searcher.Search(request, TestContext.Current.CancellationToken);
        using SearchResults planned = searcher.Search(request, new QueryOptions { Plan = PlanDetail.Counts });
        Assert.Equal(planned.Counters, plain.Counters);
        Assert.Equal(Ask(searcher, request, new QueryOptions()), answer);
        if (request.CountsHits || plain.IsTotalExact)
            Assert.Equal(Ask(searcher, request with { OrderHint = OrderHint.Sort, CountsHits = true }, null), answer);
        return (planned.Plan!.Operation == "best hits", plain.TotalCount); // it was asked for
    }

    private static string Ask(IndexSearcher searcher, SearchRequest request, QueryOptions? options)
    {
        using SearchResults results = searcher.Search(request, options);
        var text = new StringBuilder().Append(results.TotalCount).Append(' ').Append(results.IsTotalExact);
        while (results.MoveNext())
            text.Append(' ').Append(results.EntryId).Append(':').Append(BitConverter.SingleToInt32Bits(results.Score));
        return text.ToString();
    }

    private static void Change(IndexBatch batch, Random random, int entries, int longest, string? extra = null)
    {
        for (int i = 0; i < entries; i++)
        {
            byte[] key = Encoding.UTF8.GetBytes("e/" + random.Next(12_000));
            if (random.Next(6) == 0)
            {
                batch.Delete(key);
                continue;
            }

            batch.BeginEntry(key);
            for (int field = 0; field < 4; field++)
            {
                int words = random.Next(20) == 0 ? random.Next(longest) : random.Next(Math.Min(longest, 20));
                string text = string.Join(
                    ' ', Enumerable.Range(0, field == 0 ? words : Math.Min(words, 5)).Select(_ => Word(random)));
                batch.AddText(field, Encoding.UTF8.GetBytes(extra is not null && random.Next(4) == 0 ? $"{text} {extra}" : text));
            }

            batch.EndEntry();
        }
    }

    private static string Field(Random random) =>
        random.Next(6) switch { 0 => "other", 1 => "boosted", 2 => "whole", _ => "text" };

    private static string Word(Random random) => "w" + (int)Math.Floor(Math.Pow(random.NextDouble(), 4) * 3_000);
}
