using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.TopK;

/// <summary>
/// Finds the best hits among the entries of lists with few entries a window, which lead: those that all of them have, or that
/// enough of them have, are looked up in the other lists. Several windows are processed together so
/// that the cache misses in each overlap. What the leading lists give a candidate is computed at once, what the others give is
/// bounded by block; of several hundred candidates those with the greatest bounds are scored first, and
/// most others are never looked at again.
/// </summary>
/// <remarks>Memory until the query ends: some 60 KiB, and 4 KiB for each leading list.</remarks>
internal sealed class CandidateSearch : IReusable
{
    /// <summary>
    /// Windows that are processed together, fewer where they have more entries than <see cref="MostTogether"/>.
    /// </summary>
    private const int WindowsTogether = 16;

    /// <summary>Entries of these, but for those of the last.</summary>
    private const int MostTogether = 1_024;

    /// <summary>From so many candidates on the best of them are offered before others are looked at.</summary>
    private const int MostKnown = 512;

    /// <summary>Candidates that may be known before that.</summary>
    private const int Room = 2 * MostKnown;

    private readonly Batch[] batch = new Batch[WindowsTogether];
    private readonly CandidateUnion union = new();
    private TopKHits hits = null!; // Run comes first
    private TopKTerm[] terms = [];
    private int[] termOf = [];
    private PostingList[] leads = [];
    private int leadCount;
    private int listCount;
    private int batchCount;
    private int batchEntries;

    /// <summary>By window of the batch and list, its postings there; of none where the list has nothing in the window.</summary>
    private HeldWindow[] held = [];
    private int[] at = [];
    private ushort[] entries = [];

    // By candidate: what the leading lists give it, one list after the other, what its length does to all parts, the most that it
    // can score, and its id.
    private float[] parts = [];
    private float[] lengths = [];
    private float[] most = [];
    private ulong[] ids = [];
    private int[] reaching = [];
    private int known;

    private QueryContext Context => hits.Context;

    /// <inheritdoc/>
    public void Clear()
    {
        Array.Clear(terms);
        Array.Clear(leads);
        (entries, parts, lengths, most, ids, reaching) = ([], [], [], [], [], []);
        (hits, known, batchCount) = (null!, 0, 0);
    }

    /// <summary>Offers the best; returns how many entries of the leading lists all lists have and filters let through.</summary>
    /// <param name="hits">The plan and the best so far.</param>
    /// <param name="order">The lists as they are looked at: the leading ones first.</param>
    /// <param name="leading">How many lead.</param>
    /// <param name="isAll">Whether all lists have to match; else several of them, or one whose own entries may be among the
    /// best.</param>
    /// <param name="countsAlone">By list in the order of the plan, whether an entry that no other list has may be among the
    /// best.</param>
    public long Run(TopKHits hits, ReadOnlySpan<int> order, int leading, bool isAll, ReadOnlySpan<bool> countsAlone)
    {
        this.hits = hits;
        leadCount = leading;
        Open(order);
        long total = 0;
        var windows = isAll && leading > 1
            ? new ListIntersection(leads.AsSpan(0, leading), Context.RentOffsets(), Context)
            : default;
        for (bool more = true; more;)
        {
            Context.Check();
            (batchCount, batchEntries) = (0, 0);
            more = !isAll ? FillAny(countsAlone) : leading == 1 ? FillFromLead() : FillCommon(ref windows);
            total += Probe(isAll);
            Bound();
        }

        OfferKnown();
        return total;
    }

    private void Open(ReadOnlySpan<int> order)
    {
        int count = order.Length;
        if (terms.Length < count)
        {
            (terms, leads) = (new TopKTerm[TopKPlan.MostTerms], new PostingList[TopKPlan.MostTerms]);
            (termOf, at) = (new int[TopKPlan.MostTerms], new int[TopKPlan.MostTerms]);
        }

        if (held.Length < count * WindowsTogether)
            held = new HeldWindow[count * WindowsTogether];
        Array.Clear(at);
        for (int i = 0; i < count; i++)
            (terms[i], leads[i], termOf[i]) = (hits.Plan.Terms[order[i]], hits.Plan.Terms[order[i]].List, order[i]);
        listCount = count;
        entries = Context.RentOffsets(MostTogether + (2 * PostingWindow.Size));
        (parts, lengths, most) = (Context.RentNumbers(Room * leadCount), Context.RentNumbers(Room), Context.RentNumbers(Room));
        (ids, reaching) = (Context.RentWords(Room), Context.RentPlaces(Room));
    }

    /// <summary>Takes the next windows of the only leading list; false behind the last.</summary>
    private bool FillFromLead()
    {
        PostingList lead = terms[0].List;
        while (batchCount < WindowsTogether && batchEntries < MostTogether)
        {
            if (!lead.IsOnWindow && !lead.MoveNextSegment())
                return false;
            ref HeldWindow postings = ref held[batchCount * listCount];
            postings = lead.Held;
            lead.At++;
            if (!Stand(postings.Window))
                continue;
            ref Batch here = ref batch[batchCount];
            (here.Window, here.Start, here.Count) = (postings.Window, batchEntries, postings.Count);
            here.InPlace = postings.Count < PostingWindow.MinBitsCount;
            if (!here.InPlace)
                postings.Postings.CopyOffsets(entries.AsSpan(here.Start));
            Keep(here.InPlace ? postings.PaddedOffsets[..postings.Count] : entries.AsSpan(here.Start, here.Count));
        }

        return true;
    }

    /// <summary>Takes the next windows in which the leading lists have entries in common; false if there are no more.</summary>
    private bool FillCommon(scoped ref ListIntersection windows)
    {
        while (batchCount < WindowsTogether && batchEntries < MostTogether)
        {
            if (!windows.MoveNext(out Span<ushort> common))
                return false;
            if (!Stand(windows.Window))
                continue;
            for (int i = 0; i < leadCount; i++)
                held[(batchCount * listCount) + i] = terms[i].List.Held;
            common.CopyTo(entries.AsSpan(batchEntries));
            batch[batchCount] = new Batch { Window = windows.Window, Start = batchEntries, Count = common.Length };
            Keep(common);
        }

        return true;
    }

    /// <summary>Takes the next windows in which enough lists have entries; false if there are no more.</summary>
    private bool FillAny(ReadOnlySpan<bool> countsAlone)
    {
        while (batchCount < WindowsTogether && batchEntries < MostTogether)
        {
            long window = PostingList.End;
            for (int i = 0; i < leadCount; i++)
            {
                PostingList list = terms[i].List;
                if (list.IsOnWindow || list.MoveNextSegment())
                    window = Math.Min(window, list.Window);
            }

            if (window == PostingList.End)
                return false;
            StandAny(window);
            ReadOnlySpan<HeldWindow> here = held.AsSpan(batchCount * listCount, listCount);
            int count = union.Unite(hits, terms, here, leadCount, countsAlone, termOf, entries.AsSpan(batchEntries));
            if (count == 0)
                continue;
            batch[batchCount] = new Batch { Window = window, Start = batchEntries, Count = count };
            Keep(entries.AsSpan(batchEntries, count));
        }

        return true;
    }

    /// <summary>Ends a window of the batch, and prefetches what its entries are looked up in.</summary>
    private void Keep(ReadOnlySpan<ushort> found)
    {
        if (listCount > leadCount && held[(batchCount * listCount) + leadCount] is { Count: > 0 } first)
            first.PrefetchWithImpacts(found);
        batchEntries += batch[batchCount].Count;
        batchCount++;
    }

    /// <summary>
    /// Has the lists that do not lead stand on a window behind those before; false if one of them has not got it.
    /// </summary>
    private bool Stand(long window)
    {
        for (int i = leadCount; i < listCount; i++)
        {
            if (!TryHold(i, window, out held[(batchCount * listCount) + i]))
                return false;
        }

        return true;
    }

    private bool TryHold(int place, long window, out HeldWindow found)
    {
        PostingList list = terms[place].List;
        if (!list.IsUnrolled)
            return terms[place].TryHold(Context, window, out found);
        ref int here = ref at[place];
        here = list.Step(here, window);
        found = list[here];
        return found.Window == window;
    }

    /// <summary>Has all lists stand on a window, those that have it, and leaves it in the leading ones.</summary>
    private void StandAny(long window)
    {
        for (int i = 0; i < listCount; i++)
        {
            ref HeldWindow here = ref held[(batchCount * listCount) + i];
            PostingList list = terms[i].List;
            if (i >= leadCount)
            {
                if (!TryHold(i, window, out here))
                    here = default;
            }
            else if (list.IsOnWindow && list.Window == window)
            {
                here = list.Held;
                list.At++;
            }
            else
            {
                here = default;
            }
        }
    }

    /// <summary>
    /// Looks the entries of the batch up in the lists that do not lead, and has them filtered; returns how many stay.
    /// </summary>
    private int Probe(bool isAll)
    {
        int total = 0;
        LengthFactors? factors = terms[0].Scorer?.Factors;
        for (int window = 0; window < batchCount; window++)
        {
            ref Batch here = ref batch[window];
            Span<ushort> mine = entries.AsSpan(here.Start, here.Count);
            ReadOnlySpan<ushort> left = here.InPlace ? held[window * listCount].PaddedOffsets[..here.Count] : mine;
            for (int i = leadCount; isAll && i < listCount && !left.IsEmpty; i++)
                left = mine[..held[(window * listCount) + i].CopyCommon(left, mine)];
            if (here.InPlace && (!isAll || listCount == leadCount))
                left.CopyTo(mine);
            here.Count = hits.Filter(here.Window, mine[..left.Length]).Length;
            total += here.Count;
            if (here.Count == 0 || factors is null)
                continue;
            here.Lengths = factors.Hold(here.Window);
            factors.Of(in here.Lengths).Prefetch(mine[..here.Count]);
        }

        return total;
    }

    /// <summary>
    /// Computes what the leading lists give the candidates of the batch, and what the others give them at the most; offers the
    /// best when there are many.
    /// </summary>
    private void Bound()
    {
        for (int window = 0; window < batchCount; window++)
        {
            ref readonly Batch here = ref batch[window];
            if (here.Count == 0)
                continue;
            if (hits.Threshold > 0 && BoundOf(window) < hits.ListThreshold)
            {
                hits.WindowsBelowBound++;
                continue;
            }

            hits.WindowsScored++;
            for (int first = 0; first < here.Count; first += MostKnown)
            {
                Bound(window, entries.AsSpan(here.Start + first, Math.Min(MostKnown, here.Count - first)));
                if (known >= MostKnown)
                    OfferKnown();
            }
        }
    }

    private void Bound(int window, ReadOnlySpan<ushort> candidates)
    {
        Span<float> bounds = most.AsSpan(known, candidates.Length);
        bounds.Clear();
        for (int i = 0; i < leadCount; i++)
        {
            Span<float> mine = parts.AsSpan((i * Room) + known, candidates.Length);
            WriteParts(window, i, candidates, mine);
            for (int hit = 0; hit < mine.Length; hit++)
                bounds[hit] += mine[hit];
        }

        if (terms[0].Scorer is { } own && held[window * listCount].Count == 0)
        {
            // No leading list of that field may be here: lengths are wanted by the others.
            WindowFactors factors = own.Factors.Of(in batch[window].Lengths);
            for (int hit = 0; hit < candidates.Length; hit++)
                lengths[known + hit] = factors[candidates[hit]];
        }

        for (int i = leadCount; i < listCount; i++)
        {
            if (held[(window * listCount) + i] is { Count: > 0 } found)
                terms[i].AddBounds(in found, candidates, bounds);
        }

        ulong start = (ulong)batch[window].Window << PostingWindow.SizeBits;
        float constant = hits.Plan.Constant;
        for (int hit = 0; hit < bounds.Length; hit++)
        {
            bounds[hit] = (bounds[hit] + constant) * Bm25.BoundMargin;
            ids[known + hit] = start + candidates[hit];
        }

        known += candidates.Length;
    }

    /// <summary>The most that the lists give an entry of a window of the batch.</summary>
    private float BoundOf(int window)
    {
        float sum = 0;
        for (int i = 0; i < listCount; i++)
        {
            ref readonly HeldWindow found = ref held[(window * listCount) + i];
            sum += found.Count == 0 ? 0 : BoundOf(i, in found);
        }

        return sum;
    }

    private float BoundOf(int list, in HeldWindow found) => terms[list].BoundOf(in found);

    /// <summary>Writes what a leading list gives candidates; of the first also what lengths do.</summary>
    private void WriteParts(int window, int list, ReadOnlySpan<ushort> candidates, Span<float> mine)
    {
        TopKTerm term = terms[list];
        ref readonly HeldWindow found = ref held[(window * listCount) + list];
        if (found.Count == 0)
        {
            mine.Clear();
            return;
        }

        PostingWindow postings = found.Postings;
        if (term.Scorer is not { } scorer)
        {
            mine.Fill(term.Boost); // filters are lists only where all have to match
            return;
        }

        bool isFirst = scorer.Factors == terms[0].Scorer?.Factors;
        ref readonly Batch here = ref batch[window];
        WindowFactors factors = isFirst ? scorer.Factors.Of(in here.Lengths) : scorer.Factors.OfWindow(here.Window);
        Span<float> ofLengths = isFirst ? lengths.AsSpan(known, candidates.Length) : default;
        scorer.WriteParts(in postings, found.Vectors, candidates, in factors, mine, ofLengths, term.Boost);
    }

    /// <summary>
    /// Offers candidates: those with the greatest bounds, and the others as far as they can still be among the best.
    /// </summary>
    private void OfferKnown()
    {
        Span<float> bounds = most.AsSpan(0, known);
        Span<int> first = stackalloc int[BoundKernels.Lanes];
        first = first[..BoundKernels.BestOfLanes(bounds, first)];
        known = 0;
        foreach (int hit in first)
            Prefetch(hit);
        foreach (int hit in first)
        {
            if (!(bounds[hit] < hits.Threshold))
                Offer(hit);
            bounds[hit] = Operator.NoMatch; // it is done
        }

        Span<int> left = reaching.AsSpan(0, BoundKernels.CopyReaching(bounds, Math.Max(0, hits.Threshold), reaching));
        foreach (int hit in left)
            Prefetch(hit);
        foreach (int hit in left)
        {
            if (!(bounds[hit] < hits.Threshold))
                Offer(hit);
        }
    }

    /// <summary>Prefetches what a candidate is scored by in the lists that do not lead.</summary>
    private void Prefetch(int hit)
    {
        long window = (long)(ids[hit] >> PostingWindow.SizeBits);
        for (int i = leadCount; i < listCount; i++)
        {
            PostingList list = terms[i].List;
            if (list.IsUnrolled && list[list.PlaceOf(window)] is var found && found.Window == window)
                found.PrefetchFrequencies();
        }
    }

    private void Offer(int hit)
    {
        Context.Meter.Count.CandidatesScored++;
        Span<float> each = hits.Parts;
        long id = (long)ids[hit];
        LengthFactors? factors = terms[0].Scorer?.Factors;
        for (int i = 0; i < listCount; i++)
        {
            TopKTerm term = terms[i];
            if (i < leadCount)
                each[termOf[i]] = parts[(i * Room) + hit];
            else if (term.Scorer is not { } scorer)
                each[termOf[i]] = term.Boost;
            else
                each[termOf[i]] = PartOf(term, scorer, id, scorer.Factors == factors ? lengths[hit] : scorer.Factors.Of(id));
        }

        hits.Offer(id, each);
    }

    private float PartOf(TopKTerm term, TermScorer scorer, long id, float ofLength)
    {
        long window = id >> PostingWindow.SizeBits;
        HeldWindow found = default;
        if (term.List.IsUnrolled)
            found = term.List[term.List.PlaceOf(window)];
        else if (!term.TryHold(Context, window, out found))
            return 0;
        int offset = (int)(id & (PostingWindow.Size - 1));
        PostingWindow postings = found.Window == window ? found.Postings : default;
        return postings.Contains(offset) ? scorer.PartOf(in postings, offset, ofLength, term.Boost) : 0;
    }

    /// <summary>A window of the batch: so many of its entries are left.</summary>
    private struct Batch
    {
        public long Window;
        public int Start;
        public int Count;

        /// <summary>Whether they are where the leading list has them, and not copied yet.</summary>
        public bool InPlace;

        /// <summary>Of the field of the first list, where that is scored.</summary>
        public HeldLengths Lengths;
    }
}
