using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Matching;

/// <summary>
/// What is left out by bounds of single entries against exact scores: nothing that reaches the threshold, and a good deal of what
/// does not.
/// </summary>
public sealed class EntryBoundsTests
{
    private const float Margin = 1.0001f;

    private static readonly IndexSchema _schema = new(
        [new IndexField("text", FieldAnalysis.FullText), new IndexField("other", FieldAnalysis.FullText), new IndexField(
            "number")]);

    [Fact]
    public void Entries_that_reach_a_threshold_stay_and_others_go()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using IndexFixture fixture = Filled(random);
        using var searcher = new IndexSearcher(fixture.Environment);
        long below = 0, left = 0;
        for (int round = 0; round < 80; round++)
        {
            using var context = new QueryContext(searcher.View, TestContext.Current.CancellationToken);
            IndexQuery query = Query(random, round);
            Operator root = new QueryCompiler(context, isScored: true).CompileWhole(query);
            var bounds = new EntryBounds(context);
            long belowHere = 0, leftHere = 0;
            for (long window = root.Next(0); window != Operator.End; window = root.Next(window + 1))
                Compare(
                    context, root, bounds, window, random, $"seed {seed}, round {round}, window {window}", ref belowHere,
                    ref leftHere);

            // Of several words an entry with one is taken as having all, or has one more often: a good deal of that is for bounds
            // of blocks.
            if (query is not FullTextQuery { Text: var text } || text.Contains(' ', StringComparison.Ordinal))
                continue;
            below += belowHere;
            left += leftHere;
        }

        Assert.True(left * 10 < below * 9, $"seed {seed}: {left} of {below} entries below a threshold stay");
    }

    private static void Compare(
        QueryContext context, Operator root, EntryBounds bounds, long window, Random random, string place, ref long below,
        ref long left)
    {
        WindowSet set = context.Rent();
        root.Fill(window, set);
        ushort[] hits = new ushort[PostingWindow.Size];
        int count = set.CopyTo(hits);
        float[] scores = new float[count];
        root.Score(window, hits.AsSpan(0, count), scores, 1, allMatch: false);
        ulong[] words = new ulong[BitmapKernels.Words];
        set.CopyWords(words);
        context.Return(set);
        if (count == 0)
            return;

        bounds.Begin(words);
        root.AddBounds(window, bounds.Rest, 1, bounds);
        float[] ordered = [.. scores.Order()];
        for (int i = 0; i < 4; i++)
        {
            // Thresholds are scores of entries, so that some reach them exactly; with each of them more may go.
            float threshold = ordered[(int)(count * (i + random.NextDouble()) / 4)];
            if (threshold <= 0)
                continue;
            bounds.Narrow(window, words, threshold, Margin);
            for (int hit = 0; hit < count; hit++)
            {
                bool stays = (words[hits[hit] >> 6] >> hits[hit] & 1) != 0;
                Assert.True(
                    stays || scores[hit] < threshold, $"{place}: entry {hits[hit]} with {scores[hit]} goes at {threshold}");
                below += scores[hit] < threshold ? 1 : 0;
                left += scores[hit] < threshold && stays ? 1 : 0;
            }
        }
    }

    /// <summary>
    /// One word or several, all or any of them, more than are looked at one by one, boosted, beside words of another field and
    /// clauses without a score.
    /// </summary>
    private static IndexQuery Query(Random random, int round)
    {
        string Some(int most) =>
            string.Join(
                ' ',
                Enumerable.Range(0, 12).OrderBy(_ => random.Next()).Take(random.Next(1, most + 1)).Select(word => "w" + word));
        var words = new FullTextQuery(
            "text", Some(round % 5 == 0 ? 12 : round % 4 == 0 ? 1 + (round & 4) : 4), All: random.Next(2) == 0);
        return (round % 4) switch
        {
            0 => words,
            1 => new OrQuery([words, new BoostQuery(new FullTextQuery("text", Some(2), All: false), random.Next(1, 30) / 10f)]),
            2 => new OrQuery([words, new FullTextQuery("other", "x0", All: false)]),
            _ => new AndQuery([words, new RangeQuery("number", FieldValue.Of(20L), true, null, false)]),
        };
    }

    /// <summary>
    /// Windows of short texts, of texts with words twice and thrice, and one in which some have more than 255 words; entries that
    /// are gone, and a last window that is not full.
    /// </summary>
    private static IndexFixture Filled(Random random)
    {
        var fixture = new IndexFixture(_schema);
        for (int i = 0; i < 14_000; i++)
        {
            bool isLong = i / PostingWindow.Size == 2 && random.Next(60) == 0;
            int frequent = random.Next(1, i / PostingWindow.Size == 1 ? 30 : 6),
                rare = isLong ? random.Next(240, 400) : random.Next(40);
            IEnumerable<string> text = Enumerable.Range(0, frequent)
                .Select(_ => "w" + random.Next(12))
                .Concat(Enumerable.Range(0, rare).Select(_ => "r" + random.Next(3_000)));
            fixture.Put(
                "e/" + i, (0, FieldValue.Of(string.Join(' ', text))), (1, FieldValue.Of(random.Next(3) == 0 ? "x0 x1" : "x1")),
                (2, FieldValue.Of((long)random.Next(100))));
        }

        for (int i = 0; i < 800; i++)
            fixture.Delete("e/" + random.Next(14_000));
        fixture.Commit();
        return fixture;
    }
}
