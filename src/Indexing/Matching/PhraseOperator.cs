using Treepie.Indexing.Kernels;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Matches entries in which the words of a phrase stand together. Ids first: positions are read of entries that have all words, and
/// of no others. What was found in a window is kept while it is the current one, so that scoring does not look again.
/// </summary>
internal sealed class PhraseOperator : Operator
{
    private readonly TermOperator[] terms;
    private readonly TermOperator[] byCost;
    private readonly PhraseMatcher matcher;
    private readonly LengthFactors? factors;
    private readonly float idf;
    private readonly bool isExact;
    private readonly PositionList[] positions;
    private readonly float[] frequencies;
    private readonly ushort[] offsets;
    private readonly ulong[] known = new ulong[BitmapKernels.Words];
    private ushort[]? unknown;
    private readonly (int First, int Second, int Apart, int Least)? pair;
    private PositionTable[]? tables;
    private long current = -1;

    /// <param name="context">The query.</param>
    /// <param name="terms">The different terms, opened with positions.</param>
    /// <param name="matcher">Tells phrases from words that stand apart.</param>
    /// <param name="factors">Lengths of the field where scores are wanted.</param>
    /// <param name="idf">Sum over all words of the phrase.</param>
    /// <param name="isExact">Whether its frequency is at most that of each word.</param>
    public PhraseOperator(QueryContext context, TermOperator[] terms, PhraseMatcher matcher, LengthFactors? factors, double idf, bool isExact)
        : base(context)
    {
        this.terms = terms;
        frequencies = context.RentNumbers(PostingWindow.Size);
        offsets = context.RentOffsets();
        this.matcher = matcher;
        this.factors = factors;
        this.idf = (float)idf;
        this.isExact = isExact;
        byCost = [.. terms.OrderBy(term => term.Estimate)];
        positions = [.. terms.Select(_ => new PositionList())];
        pair = matcher.Pair([.. terms.Select(term => term.Estimate)]);
    }

    public override long Estimate => byCost[0].Estimate;

    public override bool IsExact => byCost[0].Estimate == 0;

    public override PlanNode Describe()
    {
        var node = new PlanNode("phrase", terms[0].Field, matcher.Distance);
        foreach (TermOperator term in terms)
            node.Over(term.Describe());
        return node;
    }

    public override long Next(long from)
    {
        long window = from;
        for (int agreed = 0; agreed < byCost.Length;)
        {
            agreed = 0;
            foreach (TermOperator term in byCost)
            {
                long next = term.Next(window);
                if (next == End)
                    return End;
                if (next != window)
                {
                    window = next;
                    break;
                }

                agreed++;
            }
        }

        return window;
    }

    public override void Fill(long window, WindowSet set)
    {
        byCost[0].Fill(window, set);
        for (int i = 1; i < byCost.Length && !set.IsEmpty; i++)
            byCost[i].And(window, set);
        Verify(window, set);
    }

    public override void And(long window, WindowSet set)
    {
        for (int i = 0; i < byCost.Length && !set.IsEmpty; i++)
            byCost[i].And(window, set);
        Verify(window, set);
    }

    public override bool Contains(long id)
    {
        foreach (TermOperator term in byCost)
        {
            if (!term.Contains(id))
                return false;
        }

        return FrequencyOf(id) > 0;
    }

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        if (factors is null)
        {
            base.Score(window, hits, scores, boost);
            return;
        }

        WindowSet mine = Context.Rent();
        mine.SetOffsets(hits);
        And(window, mine);
        for (int i = 0; i < hits.Length; i++)
        {
            if (!mine.Contains(hits[i]))
                continue;
            float frequency = frequencies[hits[i]];
            scores[i] += boost * idf * frequency / (frequency + factors.Of((window << PostingWindow.SizeBits) + hits[i]));
        }

        Context.Return(mine);
    }

    public override void ScoreMatches(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        if (factors is null)
        {
            base.ScoreMatches(window, hits, scores, boost);
            return;
        }

        MatchUnknown(window, hits);
        WindowFactors lengths = factors.OfWindow(window);
        for (int i = 0; i < hits.Length; i++)
        {
            float frequency = frequencies[hits[i]];
            scores[i] += boost * idf * frequency / (frequency + lengths[hits[i]]);
        }
    }

    public override void Bounds(Span<float> windows, float boost)
    {
        byCost[0].PartBounds(windows);
        Span<float> others = Context.RentNumbers(windows.Length).AsSpan(0, windows.Length);
        for (int term = 1; term < byCost.Length; term++)
        {
            byCost[term].PartBounds(others);
            for (int i = 0; i < windows.Length; i++)
                windows[i] = Math.Min(windows[i], others[i]);
        }

        float weight = factors is null ? boost : boost * idf;
        foreach (ref float bound in windows)
            bound = bound < 0 ? NoMatch : weight * (factors is not null && isExact ? Math.Min(1, bound) : 1);
    }

    public override void AddBounds(long window, Span<float> bounds, float boost)
    {
        Span<float> least = stackalloc float[PostingWindow.Blocks];
        Span<float> parts = stackalloc float[PostingWindow.Blocks];
        least.Fill(1);
        foreach (TermOperator term in factors is not null && isExact ? terms : [])
        {
            term.Parts(window, parts);
            for (int i = 0; i < parts.Length; i++)
                least[i] = Math.Min(least[i], parts[i]);
        }

        float weight = factors is null ? boost : boost * idf;
        BoundKernels.AddScaled(bounds, least, weight);
    }

    /// <summary>Keeps what is a phrase of entries that have all its words.</summary>
    private void Verify(long window, WindowSet set)
    {
        if (set.IsEmpty)
            return;
        int count = set.CopyTo(offsets);
        MatchUnknown(window, offsets.AsSpan(0, count));
        int kept = 0;
        for (int i = 0; i < count; i++)
        {
            offsets[kept] = offsets[i];
            kept += frequencies[offsets[i]] > 0 ? 1 : 0;
        }

        set.SetOffsets(offsets.AsSpan(0, kept));
    }

    /// <summary>Finds the frequencies of those entries that were not looked at before, term by term: the positions of each are read in one pass.</summary>
    private void MatchUnknown(long window, ReadOnlySpan<ushort> entries)
    {
        if (window != current)
        {
            Array.Clear(known);
            current = window;
        }

        unknown ??= Context.RentOffsets();
        int count = 0;
        foreach (ushort entry in entries)
        {
            unknown[count] = entry;
            ref ulong word = ref known[entry >> PostingWindow.BlockBits];
            ulong bit = 1UL << (entry & 63);
            count += (word & bit) == 0 ? 1 : 0;
            word |= bit;
        }

        ReadOnlySpan<ushort> asked = unknown.AsSpan(0, count);
        if (count == 0)
            return;

        Context.Meter.Count.EntriesScanned += count;
        if (pair is not null)
        {
            int kept = MatchPair(window, asked);
            if (kept == 0 || (kept > 0 && matcher.IsPair))
                return;
            count = kept < 0 ? count : kept;
            asked = asked[..count];
        }

        tables ??= [.. terms.Select(_ => new PositionTable())];
        for (int i = 0; i < terms.Length; i++)
            terms[i].CopyPositions(window, asked, tables[i]);
        for (int place = 0; place < count; place++)
        {
            for (int i = 0; i < terms.Length; i++)
                positions[i].Set(tables[i], place);
            frequencies[asked[place]] = matcher.Match(positions);
        }
    }

    /// <summary>
    /// Finds how often the pair stands in entries, as they lie in the pages; that is their frequency, but for longer phrases. Leaves those that have it at the beginning of
    /// <see cref="unknown"/>, and returns how many; -1, and nothing is found, where the positions do not lie in pages.
    /// </summary>
    private int MatchPair(long window, ReadOnlySpan<ushort> entries)
    {
        (int first, int second, int apart, int least) = pair!.Value; // asked for only where there is one
        if (!terms[first].TryOpenPositions(window, out PositionReader left) || !terms[second].TryOpenPositions(window, out PositionReader right))
            return -1;

        int kept = 0;
        foreach (ushort entry in entries)
        {
            ReadOnlySpan<byte> leftPositions = left.Next(entry, out int leftCount);
            ReadOnlySpan<byte> rightPositions = right.Next(entry, out int rightCount);
            int found = PhraseMatcher.CountPairs(leftPositions, leftCount, rightPositions, rightCount, apart, least);
            frequencies[entry] = found;
            unknown![kept] = entry; // entries stand in it
            kept += found > 0 ? 1 : 0;
        }

        return kept;
    }

    private float FrequencyOf(long id)
    {
        Context.Meter.Count.EntriesScanned++;
        for (int i = 0; i < terms.Length; i++)
            positions[i].Set(terms[i].Positions(id));
        return matcher.Match(positions);
    }
}
