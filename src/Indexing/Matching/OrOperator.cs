using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching;

/// <summary>Disjunction: matches the entries that at least one clause matches.</summary>
internal sealed class OrOperator(QueryContext context, Operator[] clauses)
    : Operator(
        context,
        MatchEstimate.AtMost(Math.Min(context.View.State.EntryCount, clauses.Sum(clause => clause.Estimate))),
        new(clauses.Sum(clause => clause.Cost.Window), clauses.Sum(clause => clause.Cost.Probe)))
{
    /// <summary>With more clauses than this, examining each costs more than the entries it excludes.</summary>
    private const int MostNarrowed = 16;

    /// <summary>
    /// Index of the clause with the most matches if it is a term, which counts a window without reading its entries,
    /// otherwise -1. Counting then reads only the matches of the other clauses that this one does not have.
    /// </summary>
    private readonly int _counted = Array.FindIndex(
        clauses, clause => TermOperator.Of(clause) is not null && clause.Estimate == clauses.Max(other => other.Estimate));
    private float[]? _bounds;
    private float[] _byWindow = [];
    private int _windowCount;
    private float _boost;

    /// <summary>The clauses in the order in which their scores are added up.</summary>
    public Operator[] Clauses => clauses;

    public override PlanNode Describe()
    {
        var node = new PlanNode("or");
        foreach (Operator clause in clauses)
            node.Over(clause.Describe());
        return node;
    }

    public override long Next(long from)
    {
        long next = End;
        foreach (Operator clause in clauses)
        {
            next = Math.Min(next, clause.Next(from));
            if (next == from)
                break;
        }

        return next;
    }

    public override void Fill(long window, WindowSet set)
    {
        clauses[0].Fill(window, set);
        for (int i = 1; i < clauses.Length; i++)
            clauses[i].Combine(window, set, SetOperation.Or);
    }

    public override void Combine(long window, WindowSet set, SetOperation operation)
    {
        if (operation == SetOperation.And)
        {
            base.Combine(window, set, operation);
            return;
        }

        for (int i = 0; i < clauses.Length && (operation == SetOperation.Or || !set.IsEmpty); i++)
            clauses[i].Combine(window, set, operation);
    }

    public override bool Contains(long id)
    {
        foreach (Operator clause in clauses)
        {
            if (clause.Contains(id))
                return true;
        }

        return false;
    }

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, bool allMatch)
    {
        foreach (Operator clause in clauses)
            clause.Score(window, hits, scores, boost, allMatch: false);
    }

    public override void AddBounds(long window, Span<float> bounds, float boost, EntryBounds? byEntry)
    {
        foreach (Operator clause in clauses)
            clause.AddBounds(window, bounds, boost, byEntry);
    }

    /// <summary>
    /// Also keeps the bounds of each clause, for <see cref="Select"/>: 4 bytes per window and clause, for up to
    /// <see cref="MostNarrowed"/> clauses.
    /// </summary>
    public override void Bounds(Span<float> windows, float boost)
    {
        bool isKept = clauses.Length <= MostNarrowed;
        (_windowCount, _boost) = (windows.Length, boost);
        _byWindow = Context.RentNumbers((isKept ? clauses.Length : 1) * windows.Length);
        windows.Fill(NoMatch);
        for (int clause = 0; clause < clauses.Length; clause++)
        {
            Span<float> mine = _byWindow.AsSpan(isKept ? clause * windows.Length : 0, windows.Length);
            clauses[clause].Bounds(mine, boost);
            for (int i = 0; i < windows.Length; i++)
                windows[i] = mine[i] < 0 ? windows[i] : Math.Max(0, windows[i]) + mine[i];
        }
    }

    public override int Count(long window)
    {
        if (_counted < 0)
            return base.Count(window);

        WindowSet others = Context.Rent();
        for (int i = 0; i < clauses.Length; i++)
        {
            if (i != _counted)
                clauses[i].Combine(window, others, SetOperation.Or);
        }

        int count = clauses[_counted].Count(window);
        if (count > 0 && !others.IsEmpty)
            clauses[_counted].Combine(window, others, SetOperation.AndNot);
        count += others.Count;
        Context.Return(others);
        return count;
    }

    /// <summary>
    /// An entry must match every essential clause, that is one without which the others cannot reach the threshold. If there
    /// is none, an entry must match a clause outside the group of weakest clauses whose bounds together stay below the
    /// threshold. <see cref="Bounds"/> must have been called before.
    /// </summary>
    public override int Select(long window, WindowSet set, float threshold, bool counts)
    {
        if (clauses.Length > MostNarrowed || threshold <= 0)
            return base.Select(window, set, threshold, counts);

        threshold *= _boost; // as the kept bounds
        Span<float> most = stackalloc float[clauses.Length];
        Span<int> order = stackalloc int[clauses.Length];
        float all = Rank(window, most, order);
        set.SetEmpty();
        if (all * Bm25.BoundMargin >= threshold)
        {
            int last = order.Length - 1;
            for (int i = last; i >= 0 && (all * Bm25.BoundMargin) - most[order[i]] < threshold; i--)
            {
                if (i == last)
                    clauses[order[i]].Fill(window, set);
                else if (!set.IsEmpty)
                    clauses[order[i]].And(window, set);
            }

            if ((all * Bm25.BoundMargin) - most[order[last]] >= threshold)
                FillAny(window, set, most, order, threshold);
        }

        return counts ? Count(window) : set.Count;
    }

    /// <summary>
    /// Adds the matches of the clauses outside the group of weakest clauses that together stay below the threshold.
    /// </summary>
    private void FillAny(long window, WindowSet set, ReadOnlySpan<float> most, ReadOnlySpan<int> order, float threshold)
    {
        Debug.Assert(most.Length == clauses.Length && order.Length == clauses.Length, "each clause has a bound and a place");
        float below = 0;
        foreach (int clause in order)
        {
            below += most[clause];
            if (below * Bm25.BoundMargin >= threshold)
                clauses[clause].Combine(window, set, SetOperation.Or);
        }
    }

    /// <summary>Sorts the clauses by their bound in the window, ascending; returns the sum of the bounds.</summary>
    private float Rank(long window, Span<float> most, Span<int> order)
    {
        Debug.Assert(most.Length == clauses.Length && order.Length == clauses.Length, "each clause has a bound and a place");
        Debug.Assert(window < _windowCount, "the bounds of all windows are kept");
        float all = 0;
        for (int i = 0; i < clauses.Length; i++)
        {
            all += most[i] = Math.Max(0, _byWindow[(i * _windowCount) + (int)window]);
            InsertionSort.Insert(order[..(i + 1)], i, new AscendingBounds(most));
        }

        return all;
    }

    /// <summary>
    /// Where the other clauses together cannot reach the threshold in a block, an entry must also match this clause. With
    /// five frequent terms, the best entries have nearly all of them, and few entries do.
    /// </summary>
    public override void Narrow(long window, Span<ulong> hits, float threshold)
    {
        Debug.Assert(hits.Length == PostingWindow.Blocks, "each block has a word");
        const int Blocks = PostingWindow.Blocks;
        _bounds ??= Context.RentNumbers((clauses.Length + 1) * Blocks);
        Span<float> all = _bounds.AsSpan(clauses.Length * Blocks, Blocks);
        all.Clear();
        for (int i = 0; i < clauses.Length; i++)
        {
            Span<float> mine = _bounds.AsSpan(i * Blocks, Blocks);
            mine.Clear();
            clauses[i].AddBounds(window, mine, 1);
            BoundKernels.AddScaled(all, mine, 1);
        }

        ulong open = BoundKernels.NotEmpty(hits);
        WindowSet? set = null;
        Span<ulong> matches = stackalloc ulong[Blocks];
        for (int i = 0; i < clauses.Length && open != 0; i++)
        {
            ulong needed = open & BoundKernels.Below(all, _bounds.AsSpan(i * Blocks, Blocks), threshold, Bm25.BoundMargin);
            if (needed == 0)
                continue;

            set ??= Context.Rent();
            clauses[i].Fill(window, set);
            set.CopyWords(matches);
            for (; needed != 0; needed &= needed - 1)
            {
                int block = BitOperations.TrailingZeroCount(needed);
                if ((hits[block] &= matches[block]) == 0)
                    open &= ~(1UL << block);
            }
        }

        if (set is not null)
            Context.Return(set);
    }

    /// <summary>Orders bounds, given by index, lowest first.</summary>
    private readonly ref struct AscendingBounds(ReadOnlySpan<float> bounds) : IItemOrder<int>
    {
        private readonly ReadOnlySpan<float> _bounds = bounds;

        public bool IsAfter(in int left, in int right) => _bounds[left] > _bounds[right];
    }
}
