using System.Text;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Schema;
using Treepie.Storage;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Postings;

/// <summary>
/// Heads of long lists: they say of their lists what is so, and searches that they answer have the hits, the order, the totals
/// and the scores of those that score every hit.
/// </summary>
public sealed class ListHeadTests
{
    private static readonly IndexSchema _schema = new([new IndexField("text", FieldAnalysis.FullText), new IndexField("number")]);
    private static readonly IReadOnlyList<SortKey> _best = [new SortKey("", SortKind.Score, Descending: true)];

    /// <summary>
    /// Texts of few lengths, so that ties are the rule, or of many; averages that rise and fall; entries that come, are put anew,
    /// go, and go by thousands.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void The_best_of_a_word_are_those_of_scoring_every_hit_while_entries_come_and_go(bool isTied)
    {
        var random = new Random(Seed.Next());
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        int fromHead = 0, asked = 0;
        for (int round = 0; round < 24; round++)
        {
            int changes = random.Next(4) switch { 0 => 3, 1 => 200, _ => 1_500 };
            bool purges = round % 8 == 7;
            int filler = new[] { 0, 4, 60, 0, 300, 2 }[round % 6];
            for (int i = 0; i < changes; i++)
                Change(batch, random, purges ? 0.9 : 0.25, isTied, filler);
            if (purges)
            {
                // Those that score most go, so that heads run empty.
                using var searcher = new IndexSearcher(store.Environment);
                foreach (long id in AllOf(searcher, "w0")
                    .OrderByDescending(entry => entry.Frequency / (double)entry.Length)
                    .Take(random.Next(5, 40))
                    .Select(entry => entry.Id))
                    batch.Delete(searcher.View.Entries.Get(id).Key.ToArray());
            }

            writer.Commit(batch, round + 1, TestContext.Current.CancellationToken);
            Check(store.Environment);
            for (int i = 0; i < 20; i++)
            {
                IndexQuery query = Query(random, i);
                int take = random.Next(4) switch { 0 => 1, 1 => 10, 2 => ListHead.MaxEntries, _ => random.Next(1, 50) };
                asked++;
                fromHead += Compare(
                    store.Environment,
                    new SearchRequest
                    {
                        Query = query,
                        Sort = _best,
                        Take = take,
                        Skip = random.Next(5) == 0 ? random.Next(20) : 0
                    }) ? 1 : 0;
            }
        }

        Assert.True(fromHead * 4 > asked, $"{fromHead} of {asked} were answered by heads");
        Assert.Empty(store.Environment.Check(cancellationToken: TestContext.Current.CancellationToken).Problems);
    }

    [Fact]
    public void Changes_that_the_index_has_not_seen_change_the_scores_of_heads_and_may_hide_their_entries()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 6; round++)
        {
            using StorageEnvironment stale = MemoryEnvironment.Open(null), current = MemoryEnvironment.Open(null);
            var staleWriter = new IndexWriter(stale, _schema);
            var currentWriter = new IndexWriter(current, _schema);
            foreach (IndexWriter writer in new[] { staleWriter, currentWriter })
            {
                var same = new Random(round);
                IndexBatch batch = writer.BeginBatch();
                for (int i = 0; i < 3_000; i++)
                    Change(batch, same, 0, isTied: round % 2 == 0, filler: 3);
                writer.Commit(batch, 1, TestContext.Current.CancellationToken);
            }

            using var searcher = new IndexSearcher(stale);
            using var tail = new IndexTail(searcher);
            int seed = random.Next();
            foreach ((IndexBatch batch, bool isTail) in new[] { (tail.BeginBatch(), true), (currentWriter.BeginBatch(), false) })
            {
                var same = new Random(seed);
                int count = same.Next(2) * same.Next(400), longest = same.Next(2) * 50;
                for (int i = 0; i < count; i++)
                    Change(batch, same, 0.3, round % 2 == 0, longest);

                // Without entries that are gone, heads answer all the same, with the figures of both.
                batch.BeginEntry("a new one"u8);
                batch.AddText(0, "w0 w0 w0"u8);
                batch.EndEntry();
                if (isTail)
                    tail.Fill(batch, TestContext.Current.CancellationToken);
                else
                    currentWriter.Commit(batch, 2, TestContext.Current.CancellationToken);
            }

            using var whole = new IndexSearcher(current);
            for (int i = 0; i < 30; i++)
            {
                var request = new SearchRequest { Query = Query(random, i), Sort = _best, Take = random.Next(1, 40) };
                using SearchResults expected = whole.Search(
                    request with { OrderHint = OrderHint.Sort },
                    cancellationToken: TestContext.Current.CancellationToken),
                        actual = searcher.Search(request, tail, cancellationToken: TestContext.Current.CancellationToken);
                Assert.Equal(Text(whole, expected), Text(searcher, actual));
            }
        }
    }

    [Fact]
    public void A_plan_says_that_the_head_of_a_list_answered()
    {
        using var store = new TemporaryStore();
        var writer = new IndexWriter(store.Environment, _schema);
        IndexBatch batch = writer.BeginBatch();
        for (int i = 0; i < 6_000; i++)
        {
            batch.BeginEntry(Key(i));
            batch.AddText(0, Encoding.UTF8.GetBytes("w x" + (i % 7) + (i % 500 == 0 ? " w" : "")));
            batch.AddLong(1, i);
            batch.EndEntry();
        }

        writer.Commit(batch, 1, TestContext.Current.CancellationToken);
        using var searcher = new IndexSearcher(store.Environment);
        var word = new FullTextQuery("text", "w", All: false);
        Assert.True(IsFromHead(searcher, new SearchRequest { Query = word, Sort = _best, Take = 10 }));
        Assert.True(
            IsFromHead(searcher, new SearchRequest { Query = new BoostQuery(word, 3), Sort = _best, Take = 10, Skip = 5 }));
        Assert.False(IsFromHead(searcher, new SearchRequest { Query = new BoostQuery(word, 0), Sort = _best, Take = 10 }));
        Assert.False(IsFromHead(searcher, new SearchRequest { Query = word, Sort = _best, Take = ListHead.MaxEntries + 1 }));
        Assert.False(
            IsFromHead(
                searcher, new SearchRequest { Query = word, Sort = [.. _best, new SortKey("number", SortKind.Long)], Take = 10 }));
        foreach ((long least, bool isFromHead) in new[] { (40L, true), (5_900L, false) })
        {
            // With a filter, where enough of the entries that are kept pass it.
            var filtered = new AndQuery([word, new RangeQuery("number", FieldValue.Of(least), true, null, false)]);
            Assert.Equal(isFromHead, IsFromHead(searcher, new SearchRequest { Query = filtered, Sort = _best, Take = 10 }));
        }
    }

    [Fact]
    public void A_head_that_is_not_as_it_was_written_is_told_from_one_that_is()
    {
        var random = new Random(Seed.Next());
        byte[] output = new byte[ListHead.MaxBytes];
        HeadEntry[] best = new HeadEntry[ListHead.MaxEntries], limits = new HeadEntry[ListHead.MaxLimits];
        foreach (byte[] damaged in new byte[][]
        {
            [17], // too many limits
            [1, 2], // a limit that does not end
            [2, 2, 3, 2, 2], // limits of which one covers another
            [0, 0, 3, 1, 5], // a frequency of 0
            [0, 1, 3, 0], // no entries
            [0, 1, 3, 33, 5], // too many
            [0, 1, 3, 2, 5, 0], // one twice
            [0, 1, 3, 2, 5], // it does not end
            [0, 1, 3, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1], // an id below 0
        })
            Assert.Throws<CorruptionException>(
                () => ListHead.Read(damaged, new HeadEntry[ListHead.MaxEntries], new HeadEntry[ListHead.MaxLimits], out _));

        // An entry that the index has not given out yet; and a head longer than any is.
        int length = ListHead.Write([new HeadEntry(99, 1, 10), new HeadEntry(100, 1, 10)], [], output);
        // no length is read
        var scorer = new TermScorer(
            new LengthFactors(null!, new FieldStatistics { EntriesWithTerms = 200, TotalTerms = 2_000, ReferenceLength = 10 }),
            150);
        Assert.Equal(
            2,
            HeadRanking.Score(
                output.AsSpan(0, length), 101, 1, new long[ListHead.MaxEntries], new float[ListHead.MaxEntries], scorer, 1,
                default(PartAlone), out _));
        Assert.Throws<CorruptionException>(
            () => HeadRanking.Score(
                output.AsSpan(0, length), 100, 1, new long[ListHead.MaxEntries], new float[ListHead.MaxEntries], scorer, 1,
                default(PartAlone), out _));
        // nothing is weighed
        Assert.Throws<CorruptionException>(() => new ListHeadEdit().Begin(new byte[ListHead.MaxBytes + 1], null!));

        for (int round = 0; round < 20_000; round++)
        {
            HeadEntry[] written = [
                .. Enumerable.Range(0, random.Next(ListHead.MaxEntries + 1))
                    .Select(i => new HeadEntry((i * 1_000L) + random.Next(900), 1 + (i / 5), 10))];
            HeadEntry[] outside = [
                .. Enumerable.Range(0, random.Next(ListHead.MaxLimits + 1))
                    .Select(i => new HeadEntry(0, 100 - (5 * i), 200 - (9 * i)))];
            byte[] bytes = output[..ListHead.Write(written, outside, output)];
            Assert.Equal(written, best[..ListHead.Read(bytes, best, limits, out int limitCount)]);
            Assert.Equal(outside, limits[..limitCount]);
            for (int i = 0; i < 3; i++)
                bytes[random.Next(bytes.Length)] = (byte)random.Next(256);
            try
            {
                ListHead.Read(bytes.AsSpan(0, random.Next(bytes.Length + 1)), best, limits, out _);
            }
            catch (CorruptionException)
            {
            }
        }
    }

    /// <summary>
    /// A word that stands more often scores more, also as floats are rounded: what ties are told by rests on it.
    /// </summary>
    [Fact]
    public void A_greater_frequency_scores_more_however_floats_are_rounded()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 2_000; round++)
        {
            var statistics = new FieldStatistics
            {
                EntriesWithTerms = random.Next(1, 1 << random.Next(1, 24)),
                TotalTerms = random.NextInt64(1, 1L << random.Next(1, 40)),
                ReferenceLength = 1
            };
            // no length is read
            var scorer = new TermScorer(
                new LengthFactors(null!, statistics), random.NextInt64(1, statistics.EntriesWithTerms + 1));
            float boost = MathF.Pow(10, random.Next(-15, 30));
            int length = random.Next(1 << random.Next(0, 20));
            for (int frequency = 1; frequency < 255; frequency++)
            {
                Assert.True(scorer.ScoreOf(frequency, length, boost) < scorer.ScoreOf(frequency + 1, length, boost));
                Assert.True(scorer.ScoreOf(frequency, length + 1, boost) <= scorer.ScoreOf(frequency, length, boost));
            }
        }
    }

    private static void Change(IndexBatch batch, Random random, double removed, bool isTied, int filler)
    {
        byte[] key = Key(random.Next(2_500));
        if (random.NextDouble() < removed)
        {
            batch.Delete(key);
            return;
        }

        var text = new List<string>();
        int words = isTied ? random.Next(1, 4) : random.Next(1, 40);
        for (int i = 0; i < words; i++)
            text.Add("w" + (random.Next(3) == 0 ? random.Next(3) : random.Next(40)));
        while (isTied && text.Count % 4 != 0)
            text.Add("x");
        if (random.Next(10) == 0)
            text.AddRange(Enumerable.Repeat("y", filler));
        batch.BeginEntry(key);
        batch.AddText(0, Encoding.UTF8.GetBytes(string.Join(' ', text)));
        batch.AddLong(1, random.Next(10));
        batch.EndEntry();
    }

    private static IndexQuery Query(Random random, int place)
    {
        IndexQuery word = new FullTextQuery("text", "w" + random.Next(3), All: false);
        return (place % 7) switch
        {
            5 => new BoostQuery(
                word, random.Next(3) switch { 0 => 0, 1 => BoostLimits.LeastOfQuery, _ => random.NextSingle() * 3 }),
            6 => random.Next(4) switch
            {
                0 => new AndQuery([word, new RangeQuery("number", FieldValue.Of((long)random.Next(10)), true, null, false)]),
                1 => new FullTextQuery("text", "w0 w1 w7", All: random.Next(2) == 0),
                2 => new OrQuery([word, new BoostQuery(new FullTextQuery("text", "w1 y", All: false), random.Next(3))]),
                _ => new AndQuery([word, new NotQuery(new TermQuery("number", FieldValue.Of(3L)))]),
            },
            _ => word,
        };
    }

    /// <summary>Compares with scoring every hit; returns whether a head answered.</summary>
    private static bool Compare(StorageEnvironment environment, SearchRequest request)
    {
        using var searcher = new IndexSearcher(environment);
        string expected;
        using (SearchResults all = searcher.Search(request with { OrderHint = OrderHint.Sort }))
            expected = Text(searcher, all);
        using (SearchResults results = searcher.Search(request))
            Assert.Equal(expected, Text(searcher, results));
        return IsFromHead(searcher, request);
    }

    private static bool IsFromHead(IndexSearcher searcher, SearchRequest request)
    {
        using SearchResults results = searcher.Search(request, new QueryOptions { Plan = PlanDetail.Counts });
        return results.Plan!.Decisions // it was asked for
            .Any(decision => decision.Chosen is "what is beside the word" or "the best entries of the list");
    }

    private static string Text(IndexSearcher searcher, SearchResults results)
    {
        var text = new StringBuilder().Append(results.TotalCount);
        while (results.MoveNext())
            text.Append(' ').Append(Encoding.UTF8.GetString(results.Key)).Append(':').Append(results.Score);
        return text.ToString();
    }

    /// <summary>Holds every head against its list.</summary>
    private static void Check(StorageEnvironment environment)
    {
        using var searcher = new IndexSearcher(environment);
        HeadEntry[] best = new HeadEntry[ListHead.MaxEntries], limits = new HeadEntry[ListHead.MaxLimits];
        foreach (string term in new[] { "w0", "w1", "w2", "x", "y" })
        {
            if (!searcher.View.TryGetTerm(TreeNames.Terms(0), Encoding.UTF8.GetBytes(term), out TermPayload payload)
                || payload.Kind != PostingKind.Long)
                continue;
            HeadEntry[] all = [.. AllOf(searcher, term)];
            Assert.Equal(payload.EntryCount, all.Length);
            int count = ListHead.Read(payload.Best, best, limits, out int limitCount);
            Assert.InRange(count, Math.Min(all.Length, ListHead.MinEntries), ListHead.MaxEntries);
            Assert.Equal(count, best.Take(count).Distinct().Count());
            Assert.Empty(best.Take(count).Except(all));
            foreach (HeadEntry entry in all.Except(best.Take(count)))
            {
                Assert.Contains(limits.Take(limitCount), limit => limit.Covers(entry.Frequency, entry.Length));
                Assert.DoesNotContain(best.Take(count), alike => alike.IsLike(entry) && alike.Id > entry.Id);
            }
        }
    }

    private static List<HeadEntry> AllOf(IndexSearcher searcher, string term)
    {
        var all = new List<HeadEntry>();
        if (!searcher.View.TryGetTerm(TreeNames.Terms(0), Encoding.UTF8.GetBytes(term), out TermPayload payload)
            || payload.Kind != PostingKind.Long)
            return all;
        // a long list lies there
        using var cursor = new PostingCursor(searcher.View.Postings(TreeNames.Terms(0))!, payload.ListId);
        using var norms = new ChunkCursor(searcher.View.Tree(TreeNames.Norms(0)));
        ushort[] offsets = new ushort[PostingWindow.Size];
        for (long window = cursor.Next(0); window != PostingCursor.End; window = cursor.Next(window + 1))
        {
            Assert.True(cursor.TryGet(window, out PostingWindow postings));
            postings.CopyOffsets(offsets);
            for (int rank = 0; rank < postings.Count; rank++)
                all.Add(
                    new HeadEntry(
                        (window << PostingWindow.SizeBits) + offsets[rank], postings.Frequency(rank),
                        new NormChunk(
                            norms.Read(NormChunk.NumberOf(window)),
                            window)[NormChunk.SlotOf((window << PostingWindow.SizeBits) + offsets[rank])]));
        }

        return all;
    }

    private static byte[] Key(int number) => Encoding.UTF8.GetBytes("k" + number);
}
