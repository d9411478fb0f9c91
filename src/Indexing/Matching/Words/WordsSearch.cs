using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Ranking;
using Treepie.Storage.Memory;

namespace Treepie.Indexing.Matching.Words;

/// <summary>
/// Finds the best entries that have all of some words, one of which has a short list, or a long one of few entries a window: by going along these, see <see cref="ListIntersection"/>, and looking some windows up in the others, or
/// most of them, see <see cref="ProbedLists"/>. As with <see cref="WordSearch"/>, whose it is, the answer and the counters are those that operators give. Words all of which have more entries are left to them.
/// </summary>
/// <remarks>Memory: 9 KiB, and 4 KiB for each word.</remarks>
internal sealed class WordsSearch(IndexView view, QueryMeter meter)
{
    /// <summary>Most words.</summary>
    public const int MostWords = 4;

    /// <summary>So many hits are scored at once.</summary>
    private const int ScoredAtOnce = 256;

    private readonly Word[] words = [new(), new(), new(), new()];
    private readonly int[] order = new int[MostWords];
    private readonly SegmentList[] inOrder = new SegmentList[MostWords];
    private readonly ProbedList[] probed = new ProbedList[MostWords];
    private readonly ushort[] hits = new ushort[PostingWindow.Size];
    private readonly float[] parts = new float[ScoredAtOnce];

    /// <summary>Runs a request for the best that have all words; false where it is not for this, and nothing was done.</summary>
    /// <param name="field">Their field.</param>
    /// <param name="forms">The words, one behind the other.</param>
    /// <param name="ends">Where each ends, two or more.</param>
    /// <param name="request">The request.</param>
    /// <param name="postings">Room for a short list.</param>
    /// <param name="cancellationToken">Ends the query.</param>
    /// <param name="found">What was found.</param>
    /// <exception cref="Storage.CorruptionException">What stands beside a word is not as it was written.</exception>
    public bool TryRun(WordField field, ReadOnlySpan<byte> forms, ReadOnlySpan<int> ends, SearchRequest request, Posting[] postings, CancellationToken cancellationToken, out WordHits found)
    {
        found = default;
        long before = view.PageVisits;
        meter.Count = default;
        Span<Word> mine = words.AsSpan(0, ends.Length);
        if (!TryLookUp(field, forms, ends, mine, out bool isMissing))
            return false;
        if (isMissing)
        {
            // Short lists of the others are decoded before that is known.
            foreach (Word word in mine)
                CountShort(word);
            found = new WordHits([], [], 0, Measure(before));
            return true;
        }

        if (!TryOrder(mine, out int merged, out bool areProbed))
            return false;

        field.Norms.Reset();
        Open(field, mine, postings);
        Span<long> ids = stackalloc long[ListHead.MaxEntries];
        Span<float> scores = stackalloc float[ListHead.MaxEntries];
        int wanted = (int)(request.Skip + request.Take);
        var best = new BestHits(ids[..wanted], scores[..wanted]);
        long total = areProbed ? Probe(mine, cancellationToken, ref best) : Run(mine, merged, cancellationToken, ref best);
        int skipped = (int)Math.Min(request.Skip, best.Count);
        found = new WordHits(ids[skipped..best.Count].ToArray(), scores[skipped..best.Count].ToArray(), total, Measure(before));
        return true;
    }

    /// <summary>Looks most windows of the longer lists up.</summary>
    private long Probe(ReadOnlySpan<Word> all, CancellationToken cancellationToken, scoped ref BestHits best)
    {
        QueryScratch scratch = view.RentScratch();
        try
        {
            for (int i = 0; i < all.Length; i++)
            {
                UnrolledList? windows = all[i].Way == ListWay.Merged ? null : scratch.Rent<UnrolledList>();
                windows?.Add(all[i].Cursor!, meter, context: null); // it was opened
                probed[i] = new ProbedList(windows is null ? all[i].Segments : null, windows, all[i].Scorer, 1);
            }

            ProbedLists lists = scratch.Rent<ProbedLists>();
            lists.Open(scratch, meter, null, cancellationToken);
            return lists.Run(probed.AsSpan(0, all.Length), order.AsSpan(0, all.Length), ref best);
        }
        finally
        {
            Array.Clear(probed);
            scratch.End();
            view.Return(scratch);
        }
    }

    private long Run(ReadOnlySpan<Word> all, int merged, CancellationToken cancellationToken, scoped ref BestHits best)
    {
        for (int i = 0; i < merged; i++)
            inOrder[i] = all[order[i]].Segments;
        ReadOnlySpan<int> asked = order.AsSpan(merged, all.Length - merged);
        var windows = new ListIntersection(inOrder.AsSpan(0, merged), hits, null, cancellationToken);
        long total = 0;
        while (windows.MoveNext(out Span<ushort> common))
        {
            foreach (int word in asked)
                common = common.IsEmpty ? common : common[..(all[word].Cursor!.TryGet(windows.Window, out PostingWindow postings) ? postings.Keep(common, wanted: true) : 0)]; // it was opened
            if (common.IsEmpty)
                continue;

            total += common.Length;
            if (asked.IsEmpty && IsBelow(all, best.WorstScore))
                continue;
            meter.Count.CandidatesScored += common.Length;
            for (; !common.IsEmpty; common = common[Math.Min(ScoredAtOnce, common.Length)..])
                Offer(windows.Window, common[..Math.Min(ScoredAtOnce, common.Length)], all, ref best);
        }

        return total;
    }

    /// <summary>Offers hits of a window with the sums of what the words give them.</summary>
    private void Offer(long window, ReadOnlySpan<ushort> common, ReadOnlySpan<Word> all, scoped ref BestHits best)
    {
        Span<float> sums = parts.AsSpan(0, common.Length);
        sums.Clear();
        foreach (Word word in all)
        {
            if (word.Way == ListWay.Merged)
                word.Segments.Score(word.Scorer, common, sums, 1);
            else if (word.Cursor!.TryGet(window, out PostingWindow postings)) // it was opened
                word.Scorer.Score(window, in postings, common, sums, 1);
        }

        long start = window << PostingWindow.SizeBits;
        for (int i = 0; i < common.Length; i++)
            best.Offer(start + common[i], sums[i]);
    }

    /// <summary>Whether no hit of the window on which all lists stand can be one of the best.</summary>
    private static bool IsBelow(ReadOnlySpan<Word> all, float worst)
    {
        if (worst <= 0)
            return false;
        float most = 0;
        foreach (Word word in all)
            most += word.Segments.Bound(word.Unit, word.Most);
        return most * Bm25.BoundMargin < worst;
    }

    /// <summary>Looks all words up; false where what stands beside one is left to the operators.</summary>
    private static bool TryLookUp(WordField field, ReadOnlySpan<byte> forms, ReadOnlySpan<int> ends, ReadOnlySpan<Word> all, out bool isMissing)
    {
        isMissing = false;
        int start = 0;
        for (int i = 0; i < all.Length; i++)
        {
            bool isThere = field.Terms.TryGet(forms[start..ends[i]], out ReadOnlySpan<byte> value);
            start = ends[i];
            all[i].Entries = 0;
            isMissing |= !isThere;
            if (!isThere)
                continue;
            var payload = new TermPayload(value);
            (all[i].Payload, all[i].Entries, all[i].IsShort) = (new HeldBytes(value), payload.EntryCount, payload.Kind == PostingKind.Flat);
            if (all[i].IsShort && payload.EntryCount > FlatPostings.MaxEntries)
                return false; // it is damaged, which operators say
        }

        return true;
    }

    /// <summary>Chooses what is done with each list, and puts those that are merged first, and rare ones before others; false where it is left to the operators.</summary>
    private bool TryOrder(ReadOnlySpan<Word> all, out int merged, out bool areProbed)
    {
        Span<long> entries = stackalloc long[all.Length];
        Span<ListWay> ways = stackalloc ListWay[all.Length];
        for (int i = 0; i < all.Length; i++)
            entries[i] = all[i].Entries;
        ListWays.Choose(entries, view.WindowCount, ListWays.MostEntries(view.WindowCount), isAll: true, ways);
        merged = 0;
        int asked = 0;
        long together = 0, most = ListWays.MostEntries(view.WindowCount);
        bool areShort = true;
        for (int i = 0; i < all.Length; i++)
        {
            all[i].Way = ways[i];
            merged += ways[i] == ListWay.Merged ? 1 : 0;
            together += ways[i] == ListWay.Merged ? entries[i] : 0;
            asked += ways[i] == ListWay.Asked ? 1 : 0;
            areShort &= ways[i] == ListWay.Merged || (ways[i] == ListWay.Asked && entries[i] <= most);
            int place = i;
            for (; place > 0 && IsBefore(all[i], all[order[place - 1]]); place--)
                order[place] = order[place - 1];
            order[place] = i;
        }

        areProbed = asked == 0 && merged < all.Length;
        return merged > 0 && together <= ListWays.MostMerged && (areProbed || merged == all.Length || (areShort && all[order[0]].Entries < ListWays.ManyEntries));
    }

    private static bool IsBefore(Word word, Word other) =>
        word.Way == other.Way ? word.Entries < other.Entries : word.Way == ListWay.Merged;

    private void Open(WordField field, ReadOnlySpan<Word> all, Posting[] postings)
    {
        foreach (Word word in all)
        {
            word.Scorer = new TermScorer(field.Factors, word.Entries);
            word.Most = word.Scorer.Weight(1);
            word.Unit = word.Scorer.ImpactUnit * word.Most;
            word.Segments.Clear();
            CountShort(word);
            var payload = new TermPayload(word.Payload.Span);
            if (word.IsShort)
            {
                int count = payload.Flat.CopyTo(postings.AsSpan(0, (int)word.Entries));
                word.Segments.Add(postings.AsSpan(0, count));
                continue;
            }

            field.Factors.Announce(word.Entries);
            view.Announce(field.Postings, payload.ListId, word.Entries);
            if (word.Field != field)
                (word.Field, word.Cursor) = (field, new PostingCursor(field.Postings, payload.ListId, meter));
            word.Cursor!.Reset(payload.ListId); // it was just made, if there was none
            if (word.Way != ListWay.Merged)
                continue;
            word.Segments.Add(word.Cursor, meter);
            meter.Count.EntriesScanned += word.Entries;
        }
    }

    /// <summary>Counts a short list as decoded.</summary>
    private void CountShort(Word word)
    {
        if (word.Entries == 0 || !word.IsShort)
            return;
        meter.Count.BlocksDecoded++;
        meter.Count.BytesDecoded += new TermPayload(word.Payload.Span).Bytes;
        meter.Count.EntriesScanned += word.Entries;
    }

    private QueryCounters Measure(long before) => meter.Count with { PagesRead = view.PageVisits - before };

    /// <summary>A word of the query.</summary>
    private sealed class Word
    {
        /// <summary>What stands beside it.</summary>
        public HeldBytes Payload;

        /// <summary>Entries that have it; 0: there are none.</summary>
        public long Entries;
        public bool IsShort;
        public ListWay Way;
        public TermScorer Scorer = null!; // Open comes first
        public float Most;
        public float Unit;

        /// <summary>Where it is looked up, of a long list of this field.</summary>
        public PostingCursor? Cursor;
        public WordField? Field;

        public SegmentList Segments { get; } = new();
    }
}
