using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.TopK;

/// <summary>
/// Finds the best hits among the entries of leading lists, which have few entries per window. Entries that all of these
/// have, or enough of them, are looked up in the other lists. Several windows are processed together so that their cache
/// misses overlap. A candidate's contribution from the leading lists is computed at once, and that of the others is bounded
/// by block. Of several hundred candidates, those with the greatest bounds are scored first, so that most others never need
/// to be.
/// </summary>
/// <remarks>Memory until the query ends: some 60 KiB, and 4 KiB for each leading list.</remarks>
internal sealed class CandidateSearch : IReusable
{
    /// <summary>Number of windows processed together; fewer if they exceed <see cref="MostTogether"/> entries.</summary>
    private const int WindowsTogether = 16;

    /// <summary>Maximum number of entries processed together, not counting those of the last window.</summary>
    private const int MostTogether = 1_024;

    /// <summary>With at least this many candidates, the best of them are offered before more are collected.</summary>
    private const int MostKnown = 512;

    /// <summary>Maximum number of candidates held before they are offered.</summary>
    private const int Room = 2 * MostKnown;

    private readonly Batch[] _batch = new Batch[WindowsTogether];
    private readonly CandidateUnion _union = new();
    private TopKHits _hits = null!; // set by Run
    private TopKTerm[] _terms = [];
    private int[] _termOf = [];
    private PostingList[] _leads = [];
    private int _leadCount;
    private int _listCount;
    private int _batchCount;
    private int _batchEntries;

    /// <summary>By window of the batch and list, the list's postings in the window; default if it has none.</summary>
    private HeldWindow[] _held = [];
    private int[] _at = [];
    private ushort[] _entries = [];

    // By candidate: the contributions of the leading lists (list by list), the length factor, the upper bound on the score,
    // and the id.
    private float[] _parts = [];
    private float[] _lengths = [];
    private float[] _most = [];
    private ulong[] _ids = [];
    private int[] _reaching = [];
    private int _known;

    private QueryContext Context => _hits.Context;

    /// <inheritdoc/>
    public void Clear()
    {
        Array.Clear(_terms);
        Array.Clear(_leads);
        (_entries, _parts, _lengths, _most, _ids, _reaching) = ([], [], [], [], [], []);
        (_hits, _known, _batchCount) = (null!, 0, 0);
    }

    /// <summary>
    /// Offers the best hits. Returns how many entries of the leading lists pass the filters and all lists that must match.
    /// </summary>
    /// <param name="hits">The plan and the best hits so far.</param>
    /// <param name="order">Indexes of the lists in the order in which they are used, the leading ones first.</param>
    /// <param name="leading">Number of leading lists.</param>
    /// <param name="isAll">Whether all lists must match. Otherwise several of them must, or one that counts alone.</param>
    /// <param name="countsAlone">By list in the order of the plan, whether an entry that no other list has may be among the
    /// best.</param>
    public long Run(TopKHits hits, ReadOnlySpan<int> order, int leading, bool isAll, ReadOnlySpan<bool> countsAlone)
    {
        Debug.Assert(leading > 0 && leading <= order.Length, "a list leads");
        Debug.Assert(_known == 0, "no candidate is left from a search before");
        _hits = hits;
        _leadCount = leading;
        Open(order);
        long total = 0;
        var windows = isAll && leading > 1
            ? new ListIntersection(_leads.AsSpan(0, leading), Context.RentOffsets(), Context)
            : default;
        for (bool more = true; more;)
        {
            Context.Check();
            (_batchCount, _batchEntries) = (0, 0);
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
        if (_terms.Length < count)
        {
            (_terms, _leads) = (new TopKTerm[TopKPlan.MostTerms], new PostingList[TopKPlan.MostTerms]);
            (_termOf, _at) = (new int[TopKPlan.MostTerms], new int[TopKPlan.MostTerms]);
        }

        if (_held.Length < count * WindowsTogether)
            _held = new HeldWindow[count * WindowsTogether];
        Array.Clear(_at);
        for (int i = 0; i < count; i++)
            (_terms[i], _leads[i], _termOf[i]) = (_hits.Plan.Terms[order[i]], _hits.Plan.Terms[order[i]].List, order[i]);
        _listCount = count;
        _entries = Context.RentOffsets(MostTogether + (2 * PostingWindow.Size));
        (_parts, _lengths, _most) =
            (Context.RentNumbers(Room * _leadCount), Context.RentNumbers(Room), Context.RentNumbers(Room));
        (_ids, _reaching) = (Context.RentWords(Room), Context.RentPlaces(Room));
    }

    /// <summary>Adds the next windows of the only leading list to the batch; false after the last.</summary>
    private bool FillFromLead()
    {
        Debug.Assert(_leadCount == 1, "one list leads");
        PostingList lead = _terms[0].List;
        while (_batchCount < WindowsTogether && _batchEntries < MostTogether)
        {
            if (!lead.IsOnWindow && !lead.MoveNextSegment())
                return false;
            ref HeldWindow postings = ref _held[_batchCount * _listCount];
            postings = lead.Held;
            lead.At++;
            if (!Stand(postings.Window))
                continue;
            ref Batch here = ref _batch[_batchCount];
            (here.Window, here.Start, here.Count) = (postings.Window, _batchEntries, postings.Count);
            here.InPlace = postings.Count < PostingWindow.MinBitsCount;
            if (!here.InPlace)
                postings.Postings.CopyOffsets(_entries.AsSpan(here.Start));
            Keep(here.InPlace ? postings.PaddedOffsets[..postings.Count] : _entries.AsSpan(here.Start, here.Count));
        }

        return true;
    }

    /// <summary>Adds the next windows in which the leading lists share entries; false after the last.</summary>
    private bool FillCommon(scoped ref ListIntersection windows)
    {
        while (_batchCount < WindowsTogether && _batchEntries < MostTogether)
        {
            if (!windows.MoveNext(out Span<ushort> common))
                return false;
            if (!Stand(windows.Window))
                continue;
            for (int i = 0; i < _leadCount; i++)
                _held[(_batchCount * _listCount) + i] = _terms[i].List.Held;
            common.CopyTo(_entries.AsSpan(_batchEntries));
            _batch[_batchCount] = new Batch { Window = windows.Window, Start = _batchEntries, Count = common.Length };
            Keep(common);
        }

        return true;
    }

    /// <summary>Adds the next windows in which enough lists have entries; false after the last.</summary>
    private bool FillAny(ReadOnlySpan<bool> countsAlone)
    {
        while (_batchCount < WindowsTogether && _batchEntries < MostTogether)
        {
            long window = PostingList.End;
            for (int i = 0; i < _leadCount; i++)
            {
                PostingList list = _terms[i].List;
                if (list.IsOnWindow || list.MoveNextSegment())
                    window = Math.Min(window, list.Window);
            }

            if (window == PostingList.End)
                return false;
            StandAny(window);
            ReadOnlySpan<HeldWindow> here = _held.AsSpan(_batchCount * _listCount, _listCount);
            int count = _union.Unite(_hits, _terms, here, _leadCount, countsAlone, _termOf, _entries.AsSpan(_batchEntries));
            if (count == 0)
                continue;
            _batch[_batchCount] = new Batch { Window = window, Start = _batchEntries, Count = count };
            Keep(_entries.AsSpan(_batchEntries, count));
        }

        return true;
    }

    /// <summary>Completes a window of the batch and prefetches what its entries are looked up in.</summary>
    private void Keep(ReadOnlySpan<ushort> found)
    {
        Debug.Assert(_batchCount < WindowsTogether, "a batch has room for the window");
        Debug.Assert(_batch[_batchCount].Count <= _entries.Length - _batchEntries, "the entries of the window are in the buffer");
        if (_listCount > _leadCount && _held[(_batchCount * _listCount) + _leadCount] is { Count: > 0 } first)
            first.PrefetchWithImpacts(found);
        _batchEntries += _batch[_batchCount].Count;
        _batchCount++;
    }

    /// <summary>
    /// Positions the lists that do not lead on a window, which must be after earlier ones; false if one of them lacks it.
    /// </summary>
    private bool Stand(long window)
    {
        for (int i = _leadCount; i < _listCount; i++)
        {
            if (!TryHold(i, window, out _held[(_batchCount * _listCount) + i]))
                return false;
        }

        return true;
    }

    private bool TryHold(int place, long window, out HeldWindow found)
    {
        Debug.Assert(place >= _leadCount && place < _listCount, "only lists that do not lead are looked up");
        PostingList list = _terms[place].List;
        if (!list.IsUnrolled)
            return _terms[place].TryHold(Context, window, out found);
        ref int here = ref _at[place];
        here = list.Step(here, window);
        found = list[here];
        return found.Window == window;
    }

    /// <summary>Positions all lists that have a window on it, and advances the leading ones past it.</summary>
    private void StandAny(long window)
    {
        for (int i = 0; i < _listCount; i++)
        {
            ref HeldWindow here = ref _held[(_batchCount * _listCount) + i];
            PostingList list = _terms[i].List;
            if (i >= _leadCount)
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
    /// Looks up the entries of the batch in the lists that do not lead and applies the filters; returns how many remain.
    /// </summary>
    private int Probe(bool isAll)
    {
        int total = 0;
        LengthFactors? factors = _terms[0].Scorer?.Factors;
        for (int window = 0; window < _batchCount; window++)
        {
            ref Batch here = ref _batch[window];
            Span<ushort> mine = _entries.AsSpan(here.Start, here.Count);
            ReadOnlySpan<ushort> left = here.InPlace ? _held[window * _listCount].PaddedOffsets[..here.Count] : mine;
            for (int i = _leadCount; isAll && i < _listCount && !left.IsEmpty; i++)
                left = mine[.._held[(window * _listCount) + i].CopyCommon(left, mine)];
            if (here.InPlace && (!isAll || _listCount == _leadCount))
                left.CopyTo(mine);
            here.Count = _hits.Filter(here.Window, mine[..left.Length]).Length;
            Debug.Assert(here.Count <= left.Length, "a filter only removes entries");
            total += here.Count;
            if (here.Count == 0 || factors is null)
                continue;
            here.Lengths = factors.Hold(here.Window);
            factors.Of(in here.Lengths).Prefetch(mine[..here.Count]);
        }

        return total;
    }

    /// <summary>
    /// Computes the leading lists' contributions to the candidates of the batch, and upper bounds on the others'. Offers the
    /// best candidates once there are many.
    /// </summary>
    private void Bound()
    {
        for (int window = 0; window < _batchCount; window++)
        {
            ref readonly Batch here = ref _batch[window];
            if (here.Count == 0)
                continue;
            if (_hits.Threshold > 0 && BoundOf(window) < _hits.ListThreshold)
            {
                _hits.WindowsBelowBound++;
                continue;
            }

            _hits.WindowsScored++;
            for (int first = 0; first < here.Count; first += MostKnown)
            {
                Bound(window, _entries.AsSpan(here.Start + first, Math.Min(MostKnown, here.Count - first)));
                if (_known >= MostKnown)
                    OfferKnown();
            }
        }
    }

    private void Bound(int window, ReadOnlySpan<ushort> candidates)
    {
        Debug.Assert(_known + candidates.Length <= Room, "the candidates have room");
        Debug.Assert((uint)window < (uint)_batchCount, "the window is of the batch");
        Span<float> bounds = _most.AsSpan(_known, candidates.Length);
        bounds.Clear();
        for (int i = 0; i < _leadCount; i++)
        {
            Span<float> mine = _parts.AsSpan((i * Room) + _known, candidates.Length);
            WriteParts(window, i, candidates, mine);
            for (int hit = 0; hit < mine.Length; hit++)
                bounds[hit] += mine[hit];
        }

        if (_terms[0].Scorer is { } own && _held[window * _listCount].Count == 0)
        {
            // None of the leading lists of this field may be in the window, but the others need the lengths.
            WindowFactors factors = own.Factors.Of(in _batch[window].Lengths);
            for (int hit = 0; hit < candidates.Length; hit++)
                _lengths[_known + hit] = factors[candidates[hit]];
        }

        for (int i = _leadCount; i < _listCount; i++)
        {
            if (_held[(window * _listCount) + i] is { Count: > 0 } found)
                _terms[i].AddBounds(in found, candidates, bounds);
        }

        ulong start = (ulong)_batch[window].Window << PostingWindow.SizeBits;
        float constant = _hits.Plan.Constant;
        for (int hit = 0; hit < bounds.Length; hit++)
        {
            bounds[hit] = (bounds[hit] + constant) * Bm25.BoundMargin;
            _ids[_known + hit] = start + candidates[hit];
        }

        _known += candidates.Length;
    }

    /// <summary>Upper bound on what the lists give an entry of a window of the batch.</summary>
    private float BoundOf(int window)
    {
        float sum = 0;
        for (int i = 0; i < _listCount; i++)
        {
            ref readonly HeldWindow found = ref _held[(window * _listCount) + i];
            sum += found.Count == 0 ? 0 : _terms[i].BoundOf(in found);
        }

        return sum;
    }

    /// <summary>
    /// Writes a leading list's contributions to candidates, and for the field of the first list also the length factors.
    /// </summary>
    private void WriteParts(int window, int list, ReadOnlySpan<ushort> candidates, Span<float> mine)
    {
        Debug.Assert(list >= 0 && list < _leadCount, "only leading lists have contributions at once");
        Debug.Assert(mine.Length == candidates.Length, "each candidate gets a contribution");
        TopKTerm term = _terms[list];
        ref readonly HeldWindow found = ref _held[(window * _listCount) + list];
        if (found.Count == 0)
        {
            mine.Clear();
            return;
        }

        PostingWindow postings = found.Postings;
        if (term.Scorer is not { } scorer)
        {
            mine.Fill(term.Boost); // lists are filters only if all must match
            return;
        }

        bool isFirst = scorer.Factors == _terms[0].Scorer?.Factors;
        ref readonly Batch here = ref _batch[window];
        WindowFactors factors = isFirst ? scorer.Factors.Of(in here.Lengths) : scorer.Factors.OfWindow(here.Window);
        Span<float> ofLengths = isFirst ? _lengths.AsSpan(_known, candidates.Length) : default;
        scorer.WriteParts(in postings, found.Vectors, candidates, in factors, mine, ofLengths, term.Boost);
    }

    /// <summary>
    /// Offers candidates: first those with the greatest bounds, then those of the others that may still be among the best.
    /// </summary>
    private void OfferKnown()
    {
        Debug.Assert(_known <= Room, "the candidates are in their buffers");
        Span<float> bounds = _most.AsSpan(0, _known);
        Span<int> first = stackalloc int[BoundKernels.Lanes];
        first = first[..BoundKernels.BestOfLanes(bounds, first)];
        _known = 0;
        foreach (int hit in first)
            Prefetch(hit);
        foreach (int hit in first)
        {
            if (!(bounds[hit] < _hits.Threshold))
                Offer(hit);
            bounds[hit] = Operator.NoMatch; // already offered
        }

        Span<int> left = _reaching.AsSpan(0, BoundKernels.CopyReaching(bounds, Math.Max(0, _hits.Threshold), _reaching));
        foreach (int hit in left)
            Prefetch(hit);
        foreach (int hit in left)
        {
            if (!(bounds[hit] < _hits.Threshold))
                Offer(hit);
        }
    }

    /// <summary>Prefetches what is needed to score a candidate in the lists that do not lead.</summary>
    private void Prefetch(int hit)
    {
        long window = (long)(_ids[hit] >> PostingWindow.SizeBits);
        for (int i = _leadCount; i < _listCount; i++)
        {
            PostingList list = _terms[i].List;
            if (list.IsUnrolled && list[list.PlaceOf(window)] is var found && found.Window == window)
                found.PrefetchFrequencies();
        }
    }

    private void Offer(int hit)
    {
        Debug.Assert((uint)hit < Room, "the candidate is known");
        Context.Meter.Count.CandidatesScored++;
        Span<float> each = _hits.Parts;
        long id = (long)_ids[hit];
        LengthFactors? factors = _terms[0].Scorer?.Factors;
        for (int i = 0; i < _listCount; i++)
        {
            TopKTerm term = _terms[i];
            if (i < _leadCount)
                each[_termOf[i]] = _parts[(i * Room) + hit];
            else if (term.Scorer is not { } scorer)
                each[_termOf[i]] = term.Boost;
            else
                each[_termOf[i]] = PartOf(term, scorer, id, scorer.Factors == factors ? _lengths[hit] : scorer.Factors.Of(id));
        }

        _hits.Offer(id, each);
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

    /// <summary>A window of the batch and its remaining entries.</summary>
    private struct Batch
    {
        public long Window;
        public int Start;
        public int Count;

        /// <summary>Whether the entries are still in the leading list and have not been copied.</summary>
        public bool InPlace;

        /// <summary>Lengths of the field of the first list, if it is scored.</summary>
        public HeldLengths Lengths;
    }
}
