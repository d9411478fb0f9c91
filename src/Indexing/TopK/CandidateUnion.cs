using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.TopK;

/// <summary>Finds the candidates of a disjunction in one window.</summary>
internal sealed class CandidateUnion
{
    private readonly ulong[] _once = new ulong[BitmapKernels.Words];
    private readonly ulong[] _twice = new ulong[BitmapKernels.Words];
    private readonly ushort[] _decoded = new ushort[PostingWindow.Size];
    private readonly ushort[] _decodedOther = new ushort[PostingWindow.Size];
    private readonly ushort[] _filtered = new ushort[2 * PostingWindow.Size];

    /// <summary>
    /// Writes the entries of the leading lists that several lists have, or one list that counts alone, if their bounds reach
    /// the threshold; returns how many. The bound of an entry in only one leading list follows from its length.
    /// </summary>
    /// <param name="hits">The best hits so far.</param>
    /// <param name="terms">The lists, the leading ones first.</param>
    /// <param name="here">Their postings in the window; default if a list has none.</param>
    /// <param name="leadCount">Number of leading lists.</param>
    /// <param name="countsAlone">By list in the order of the plan, whether an entry that no other list has may be among the
    /// best.</param>
    /// <param name="termOf">By list, its index in the plan.</param>
    /// <param name="output">Room for twice the number of entries of a window.</param>
    public int Unite(
        TopKHits hits, ReadOnlySpan<TopKTerm> terms, ReadOnlySpan<HeldWindow> here, int leadCount, ReadOnlySpan<bool> countsAlone,
        ReadOnlySpan<int> termOf, Span<ushort> output)
    {
        Debug.Assert(leadCount > 0 && leadCount <= here.Length && terms.Length >= here.Length, "each list has a window or none");
        int listCount = here.Length;
        Span<float> bounds = stackalloc float[listCount];
        float leading = 0, others = 0;
        int present = 0;
        for (int i = 0; i < listCount; i++)
        {
            bounds[i] = here[i].Count == 0 ? 0 : terms[i].BoundOf(in here[i]);
            leading += i < leadCount ? bounds[i] : 0;
            others += i < leadCount ? 0 : bounds[i];
            present += i < leadCount && here[i].Count > 0 ? 1 : 0;
        }

        float least = hits.Threshold > 0 ? hits.ListThreshold : float.NegativeInfinity;
        if (leading + others < least)
        {
            hits.WindowsBelowBound++;
            return 0;
        }

        int count = present > 1 ? Common(here[..leadCount], present, output) : 0;
        for (int i = 0; i < leadCount; i++)
        {
            bool isAlone = countsAlone[termOf[i]];
            if (here[i].Count == 0 || bounds[i] + others < least || (others == 0 && !isAlone))
                continue;
            Span<ushort> mine = isAlone
                ? Reaching(terms[i], in here[i], least - others)
                : Known(terms[leadCount..listCount], here[leadCount..], OffsetsOf(in here[i]), least - bounds[i]);
            count = OffsetKernels.Unite(output, count, mine);
        }

        return count;
    }

    /// <summary>Writes the entries that at least two leading lists have; returns how many.</summary>
    private int Common(ReadOnlySpan<HeldWindow> leading, int present, Span<ushort> output)
    {
        Debug.Assert(present > 1, "entries are common to two lists at least");
        if (present == 2)
        {
            int one = 0;
            while (leading[one].Count == 0)
                one++;
            int other = one + 1;
            while (leading[other].Count == 0)
                other++;
            ReadOnlySpan<ushort> mine = leading[one].Vectors;
            int count = leading[other].Count;
            if (!mine.IsEmpty && count < PostingWindow.MinBitsCount)
                return OffsetKernels.Intersect(mine, leading[one].Count, leading[other].PaddedOffsets[..count], output);
        }

        Array.Clear(_once);
        Array.Clear(_twice);
        foreach (ref readonly HeldWindow held in leading)
        {
            foreach (ushort offset in held.Count == 0 ? default : OffsetsOf(in held))
            {
                ref ulong word = ref _once[offset >> PostingWindow.BlockBits];
                ulong bit = 1UL << (offset & (PostingWindow.Blocks - 1));
                _twice[offset >> PostingWindow.BlockBits] |= word & bit;
                word |= bit;
            }
        }

        return BitmapKernels.Decode(_twice, output);
    }

    /// <summary>Returns the offsets of a window, valid until the next call.</summary>
    private ReadOnlySpan<ushort> OffsetsOf(in HeldWindow held)
    {
        if (held.Count < PostingWindow.MinBitsCount)
            return held.PaddedOffsets[..held.Count];
        held.Postings.CopyOffsets(_decoded);
        return _decoded.AsSpan(0, held.Count);
    }

    /// <summary>
    /// Returns the entries of a leading list that may reach a score from this list, judged by their lengths.
    /// </summary>
    private Span<ushort> Reaching(TopKTerm term, in HeldWindow held, float least)
    {
        ReadOnlySpan<ushort> mine = OffsetsOf(in held);
        PostingWindow postings = held.Postings;
        if (term.Scorer is { } scorer)
            return _filtered.AsSpan(0, scorer.CopyReaching(held.Window, in postings, mine, least, term.Boost, _filtered));
        mine.CopyTo(_filtered);
        return _filtered.AsSpan(0, mine.Length);
    }

    /// <summary>
    /// Returns the given entries that any of the other lists has, if the bounds of their blocks together reach a score.
    /// </summary>
    private Span<ushort> Known(
        ReadOnlySpan<TopKTerm> terms, ReadOnlySpan<HeldWindow> others, ReadOnlySpan<ushort> entries, float least)
    {
        Debug.Assert(terms.Length == others.Length, "each list has a window or none");
        int count = 0;
        for (int i = 0; i < others.Length; i++)
        {
            ref readonly HeldWindow other = ref others[i];
            if (other.Count == 0)
                continue;
            int found = other.CopyCommon(entries, _decodedOther);
            count = OffsetKernels.Unite(_filtered, count, _decodedOther.AsSpan(0, found));
        }

        if (count == 0 || float.IsNegativeInfinity(least))
            return _filtered.AsSpan(0, count);
        Span<float> bounds = stackalloc float[count];
        bounds.Clear();
        for (int i = 0; i < others.Length; i++)
        {
            if (others[i].Count > 0)
                terms[i].AddBounds(in others[i], _filtered.AsSpan(0, count), bounds);
        }

        int kept = 0;
        for (int i = 0; i < count; i++)
        {
            _filtered[kept] = _filtered[i];
            kept += bounds[i] < least ? 0 : 1;
        }

        return _filtered.AsSpan(0, kept);
    }
}
