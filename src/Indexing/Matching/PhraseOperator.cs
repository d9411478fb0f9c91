using Treepie.Indexing.Kernels;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Matches entries in which the words of a phrase stand together. Ids first: positions are read of entries that have all words, and of no others, see <see cref="PhraseFinder"/>.
/// </summary>
internal sealed class PhraseOperator : Operator
{
    private readonly TermOperator[] terms;
    private readonly TermOperator[] byCost;
    private readonly PhraseMatcher matcher;
    private readonly LengthFactors? factors;
    private readonly float idf;
    private readonly bool isExact;
    private readonly PhraseFinder finder;

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
        this.matcher = matcher;
        this.factors = factors;
        this.idf = (float)idf;
        this.isExact = isExact;
        byCost = [.. terms.OrderBy(term => term.Estimate)];
        finder = new PhraseFinder(context, terms, matcher);
    }

    public override long Estimate => byCost[0].Estimate;

    /// <summary>An eighth of what would have all words if these had nothing to do with each other: finding a match costs more than its score, so bounds pay late.</summary>
    public override double Likely
    {
        get
        {
            double entries = Math.Max(1, Context.View.State.EntryCount), likely = entries;
            foreach (TermOperator term in byCost)
                likely *= term.Estimate / entries;
            return Math.Min(byCost[0].Estimate, likely) / 8;
        }
    }

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
        FillWords(window, set);
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

        return finder.FrequencyOf(id) > 0;
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
            float frequency = finder.Frequencies[hits[i]];
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

        finder.Look(window, hits);
        WindowFactors lengths = factors.OfWindow(window);
        for (int i = 0; i < hits.Length; i++)
        {
            float frequency = finder.Frequencies[hits[i]];
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

    /// <summary>Where matches need not be counted, positions are read only of entries in blocks that promise enough.</summary>
    public override int Select(long window, WindowSet set, float threshold, float margin, bool counts)
    {
        if (counts || threshold <= 0 || factors is null)
            return base.Select(window, set, threshold, margin, counts);

        FillWords(window, set);
        if (set.IsEmpty)
            return 0;
        Span<float> bounds = stackalloc float[PostingWindow.Blocks];
        bounds.Clear();
        AddBounds(window, bounds, 1);
        if (set.Form == WindowSetForm.List)
        {
            set.Narrow(bounds, threshold, margin);
        }
        else
        {
            Span<ulong> words = stackalloc ulong[BitmapKernels.Words];
            set.CopyWords(words);
            BoundKernels.Narrow(words, bounds, threshold, margin);
            set.And(words);
        }

        Verify(window, set);
        return set.Count;
    }

    /// <summary>The entries that have all words.</summary>
    private void FillWords(long window, WindowSet set)
    {
        byCost[0].Fill(window, set);
        for (int i = 1; i < byCost.Length && !set.IsEmpty; i++)
            byCost[i].And(window, set);
    }

    /// <summary>Keeps what is a phrase of entries that have all its words.</summary>
    private void Verify(long window, WindowSet set)
    {
        if (set.IsEmpty)
            return;
        if (set.Form == WindowSetForm.List)
        {
            finder.Look(window, set.List);
        }
        else
        {
            Span<ulong> asked = stackalloc ulong[BitmapKernels.Words];
            set.CopyWords(asked);
            finder.Look(window, asked);
        }

        set.And(finder.Matched);
    }
}
