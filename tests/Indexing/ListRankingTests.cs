using System.Text;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests;

/// <summary>
/// The best hits of lists, found from candidates and blocks, against those by bounds and those by scoring every hit: the same
/// entries, the same scores to the last bit, the same totals. Lists have as many entries in a window as make a form end and the
/// next begin, and windows that others have not.
/// </summary>
public sealed class ListRankingTests
{
    private const string Rarest = "candidates of the rarest list",
        Several = "candidates of several lists",
        ByBlocks = "best blocks first";
    private const int Window = 4_096;
    private const int Entries = (4 * Window) + 900;

    private static readonly IndexSchema _schema = new(
        [new IndexField("text", FieldAnalysis.FullText), new IndexField("title", FieldAnalysis.FullText)
        {
            Boost = 2.5f
        }, new IndexField("kind")]);

    /// <summary>By word, how many entries of each window have it.</summary>
    private static readonly (string Word, int[] InWindows)[] _lists =
    [
        ("one", [0, 1, 0, 0, 0]),
        ("few", [2, 0, 3, 0, 1]),
        ("gap", [40, 0, 0, 35, 0]),
        ("gaps", [0, 30, 25, 20, 0]),
        ("w127", [127, 0, 1, 0, 20]),
        ("w128", [0, 128, 0, 17, 0]),
        ("w256", [256, 0, 0, 0, 2]),
        ("w257", [0, 0, 257, 1, 0]),
        ("flat256", [60, 60, 60, 60, 16]),
        ("long257", [60, 60, 60, 60, 17]),
        ("mid", [20, 33, 7, 16, 15]),
        ("tens", [15, 16, 17, 31, 32]),
        ("thick", [300, 127, 128, 129, 80]),
        ("whole", [0, Window, 0, 3, 0]),
        ("most", [4_000, 3_000, 4_095, 2_000, 800]),
        ("all", [Window, Window, Window, Window, 900]),
    ];

    [Fact]
    public void Candidates_and_blocks_give_what_bounds_and_what_scoring_every_hit_give()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        List<string>[] words = Fill(writer, batch, random, longest: 30);
        int merged = 0, byBlocks = 0;
        for (int round = 0; round < 3; round++)
        {
            for (int i = 0; i < 90; i++)
                _ = Compare(environment, Query(random), random) switch
                {
                    Rarest or Several => merged++,
                    ByBlocks =>
                    byBlocks++,
                    _ => 0
                };
            for (int i = 0; i < 20; i++)
                byBlocks += Compare(environment, LongQuery(random), random) == ByBlocks ? 1 : 0;
            Change(batch, words, random, longest: round == 0 ? 4 : 250);
            writer.Commit(batch, round + 2, TestContext.Current.CancellationToken);
        }

        Assert.True(merged > 50, $"Candidates were looked up {merged} times, of 270.");
        Assert.True(byBlocks > 30, $"Lists were looked at by blocks {byBlocks} times, of 330.");
    }

    /// <summary>
    /// Entries of equal scores, more than are wanted: those that came first are the best, whichever list has them.
    /// </summary>
    [Fact]
    public void Of_equal_scores_the_first_entries_are_the_best()
    {
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        var random = new Random(Seed.Next());
        for (int i = 0; i < Entries; i++)
        {
            // Two words are in as many entries each, so that one counts as much as the other.
            batch.BeginEntry(Encoding.UTF8.GetBytes("e/" + i));
            string text = (i % 50) switch
            {
                7 => "left plain",
                9 => "right plain",
                11 => "left right",
                13 => "plain common",
                _ =>
                "plain plain"
            };
            batch.AddText(0, Encoding.UTF8.GetBytes(text));
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        foreach (string text in new[]
        {
            "left right", "right left", "left common right", "left right plain", "left", "plain left"
        })
        {
            for (int take = 1; take < 700; take += 1 + random.Next(90))
                Compare(environment, new FullTextQuery("text", text, All: random.Next(3) == 0), random, take);
        }
    }

    /// <summary>
    /// What a filter gives every hit is so much that the parts of a word, which differ, are rounded to a few scores. Those of one
    /// score come in the order of their ids, also where the best are known beside the word.
    /// </summary>
    [Fact]
    public void Of_parts_rounded_to_equal_scores_the_first_entries_are_the_best()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, _schema);
        _ = Fill(writer, writer.BeginBatch(), random, longest: 250);
        for (int i = 0; i < 60; i++)
        {
            var filter = new BoostQuery(new TermQuery("kind", FieldValue.Of("most")), MathF.Pow(10, random.Next(2, 7)));
            var word = new FullTextQuery("text", random.Next(2) == 0 ? "most" : "filler", All: true);
            Compare(environment, new AndQuery([word, filter]), random, random.Next(1, 25));
        }
    }

    [Fact]
    public void The_plan_says_how_lists_were_ranked_and_its_counters_are_those_of_the_query_without_it()
    {
        var random = new Random(Seed.Next());
        using var directory = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(directory.Path, new StorageOptions { Durability = Durability.Relaxed });
        var writer = new IndexWriter(environment, _schema);
        _ = Fill(writer, writer.BeginBatch(), random, longest: 10);
        using var searcher = new IndexSearcher(environment);
        foreach ((string text, bool all, string way) in new[]
        {
            ("mid tens", true, Rarest), ("mid tens", false, Several), ("mid most", true, Rarest),
            ("mid most all", false, Several), ("mid thick few", false, Several),
            ("most all", true, ByBlocks), ("thick most all", true, ByBlocks),
        })
        {
            SearchRequest request = Request(new FullTextQuery("text", text, all), 10, 0);
            using SearchResults planned = searcher.Search(
                request, new QueryOptions { Plan = PlanDetail.Counts }, TestContext.Current.CancellationToken);
            using SearchResults plain = searcher.Search(request, null, TestContext.Current.CancellationToken);
            Assert.Equal(plain.Counters, planned.Counters);
            Assert.Equal("best hits", planned.Plan!.Operation); // it was asked for
            Assert.Equal(way, planned.Plan.Decisions[0].Chosen);
            Assert.True(
                planned.Plan.Windows > 0 == plain.TotalCount > 0 && planned.Plan.Windows + planned.Plan.WindowsBelowBound <= 10,
                $"{text}, {all}: {planned.Plan.Windows} windows were scored, {planned.Plan.WindowsBelowBound} were not.");
            Assert.Equal(plain.TotalCount, planned.Plan.RowsIn);
        }
    }

    /// <summary>Compares all ways; returns the one that was taken without being told to.</summary>
    private static string Compare(StorageEnvironment environment, IndexQuery query, Random random, int take = 0)
    {
        SearchRequest request = Request(
            query, take > 0 ? take : random.Next(3) switch { 0 => 1, 1 => 10, _ => random.Next(1, 400) },
            random.Next(4) == 0 ? random.Next(30) : 0);
        using var searcher = new IndexSearcher(environment);
        (string expected, long total, _, ReadOnlyMemory<byte> last) = Ask(
            searcher, request with { OrderHint = OrderHint.Sort }, RankHint.Windows);
        string taken = "";
        foreach (RankHint hint in Enum.GetValues<RankHint>())
        {
            (string found, long count, string way, _) = Ask(searcher, request, hint);
            Assert.Equal(expected, found);
            Assert.Equal(total, count);
            taken = hint == RankHint.Cheaper ? way : taken;
            (string uncounted, long seen, _, _) = Ask(searcher, request with { CountsHits = false }, hint);
            Assert.Equal(expected, uncounted);
            Assert.InRange(seen, Math.Min(total, expected.Count(letter => letter == ':')), total);
            if (last.IsEmpty)
                continue;
            string next =
                Ask(
                    searcher, request with { Skip = request.Skip + request.Take, OrderHint = OrderHint.Sort },
                    RankHint.Windows).Found;
            Assert.Equal(next, Ask(searcher, request with { Skip = 0, After = last }, hint).Found);
        }

        return taken;
    }

    private static (string Found, long Total, string Way, ReadOnlyMemory<byte> Last) Ask(
        IndexSearcher searcher, SearchRequest request, RankHint hint)
    {
        using SearchResults results = searcher.Search(
            request with { WithPosition = true },
            new QueryOptions { Plan = PlanDetail.Counts, Hints = new PlanHints { Rank = hint } },
            TestContext.Current.CancellationToken);
        var text = new StringBuilder();
        while (results.MoveNext())
            text.Append(' ').Append(results.EntryId).Append(':').Append(BitConverter.SingleToInt32Bits(results.Score));
        // it was asked for
        return (
            text.ToString(), results.TotalCount, results.Plan!.Decisions is [var how, ..] ? how.Chosen : "", results.Position);
    }

    private static SearchRequest Request(IndexQuery query, int take, int skip) =>
        new() { Query = query, Sort = [new SortKey("", SortKind.Score, Descending: true)], Take = take, Skip = skip };

    /// <summary>Makes all entries, with the words that they have for being in a list; gives these back.</summary>
    private static List<string>[] Fill(IndexWriter writer, IndexBatch batch, Random random, int longest)
    {
        List<string>[] words = Deal(random);
        for (int i = 0; i < words.Length; i++)
            Put(batch, i, words[i], random, longest);
        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        return words;
    }

    /// <summary>The words that each entry has for being in a list.</summary>
    private static List<string>[] Deal(Random random)
    {
        List<string>[] words = [.. Enumerable.Range(0, Entries).Select(_ => new List<string>())];
        foreach ((string word, int[] counts) in _lists)
        {
            for (int window = 0; window < counts.Length; window++)
            {
                int[] entries = [.. Enumerable.Range(window * Window, Math.Min(Window, Entries - (window * Window)))];
                random.Shuffle(entries);
                foreach (int entry in entries.AsSpan(0, counts[window]))
                    words[entry].Add(word);
            }
        }

        return words;
    }

    private static void Put(IndexBatch batch, int entry, List<string> words, Random random, int longest)
    {
        batch.BeginEntry(Encoding.UTF8.GetBytes("e/" + entry));
        IEnumerable<string> often = words.SelectMany(
            word => Enumerable.Repeat(word, random.Next(6) == 0 ? random.Next(1, 20) : 1));
        batch.AddText(
            0, Encoding.UTF8.GetBytes(string.Join(' ', often.Concat(Enumerable.Repeat("filler", random.Next(longest))))));
        batch.AddText(1, Encoding.UTF8.GetBytes(string.Join(' ', words)));
        foreach (string word in words.Where(word => word.Length == 4))
            batch.AddText(2, Encoding.UTF8.GetBytes(word));
        batch.EndEntry();
    }

    /// <summary>Entries go, and others come with their words, and in longer texts.</summary>
    private static void Change(IndexBatch batch, List<string>[] words, Random random, int longest)
    {
        for (int i = 0; i < 1_500; i++)
        {
            int entry = random.Next(words.Length);
            if (random.Next(2) == 0)
                batch.Delete(Encoding.UTF8.GetBytes("e/" + entry));
            else
                Put(batch, entry, words[entry], random, longest);
        }
    }

    private static IndexQuery Query(Random random)
    {
        IndexQuery[] clauses = [.. Enumerable.Range(0, random.Next(2, 6)).Select(_ => Clause(random))];
        string words = string.Join(' ', Enumerable.Range(0, random.Next(2, 5)).Select(_ => Word(random)));
        return random.Next(9) switch
        {
            0 => new AndQuery(clauses[..2]),

            // Short lists of two fields beside long ones.
            8 => new AndQuery(
                [new FullTextQuery("title", random.Next(2) == 0 ? "mid" : "tens", All: true), new FullTextQuery(
                    "text", "most",
                    All: true), new FullTextQuery("text", random.Next(2) == 0 ? "mid" : "w256", All: true), .. clauses[..1]]),
            1 => new OrQuery(clauses),
            2 => new BoostQuery(new OrQuery(clauses), random.Next(4) / 2f),
            3 => new BoostQuery(new AndQuery(clauses[..2]), 1.7f),
            4 => new FullTextQuery("title", words, All: random.Next(2) == 0),
            _ => new FullTextQuery("text", words, All: random.Next(2) == 0),
        };
    }

    /// <summary>Words with many entries in each window, or in most, all of which have to match.</summary>
    private static IndexQuery LongQuery(Random random)
    {
        string[] words = ["thick", "whole", "most", "all", "filler"];
        random.Shuffle(words);
        IndexQuery query = new FullTextQuery("text", string.Join(' ', words.Take(random.Next(2, 5))), All: true);
        return random.Next(4) switch
        {
            0 => new BoostQuery(query, random.Next(1, 9) / 4f),
            1 => new AndQuery(
                [new FullTextQuery("title", "most", All: true), query, new BoostQuery(
                    new FullTextQuery("text", "all", All: true), 0.3f)]),
            _ => query,
        };
    }

    /// <summary>A list, maybe of a field that is not scored, or with boosts around it.</summary>
    private static IndexQuery Clause(Random random) => random.Next(7) switch
    {
        0 => new TermQuery("kind", FieldValue.Of(Word(random, 4))),
        1 => new TermQuery("text", FieldValue.Of(Word(random))),
        2 => new BoostQuery(new FullTextQuery("text", Word(random), All: true), random.Next(5) / 2f),
        3 => new BoostQuery(new TermQuery("kind", FieldValue.Of(Word(random, 4))), 3),
        4 => new FullTextQuery("title", Word(random), All: true),
        _ => new FullTextQuery("text", Word(random), All: false),
    };

    private static string Word(Random random, int length = 0)
    {
        string word = _lists[random.Next(_lists.Length)].Word;
        return length == 0 || word.Length == length ? word : Word(random, length);
    }
}
