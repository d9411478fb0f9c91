using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.TopK;

/// <summary>Counts the hits of a <see cref="TopKPlan"/> if the search for the best does not see all of them.</summary>
/// <param name="hits">The plan.</param>
/// <param name="order">Indexes of its lists, the rarest first.</param>
internal sealed class HitCount(TopKHits hits, int[] order)
{
    private readonly QueryContext _context = hits.Context;
    private readonly TopKPlan _plan = hits.Plan;

    private ReadOnlySpan<TopKTerm> Terms => _plan.Terms;

    /// <summary>Counts all hits, window by window. All lists must be unrolled.</summary>
    public long Run()
    {
        if (_plan is { TermCount: 1, Filters: [{ IsWanted: true, Operator: { } filter }] }
            && ColumnRangeOperator.Of(filter) is { } range)
            return Count(Terms[0].List, range, _context.Tracer is null ? null : filter.Describe());
        if (!_plan.IsAll && _plan.Filters.Count == 0)
            return CountAny();
        WindowSet set = _context.Rent();
        Span<int> at = stackalloc int[Terms.Length];
        at.Clear();
        long total = 0;
        for (long window = 0; ; window++)
        {
            _context.Check();
            window = NextWindow(at, window);
            if (window == PostingList.End)
                break;
            Fill(window, at, set);
            hits.Filter(window, set);
            total += set.Count;
        }

        _context.Return(set);
        return total;
    }

    /// <summary>
    /// Counts the entries that any list has: all of the longest list, and those of the others that it does not have. Windows
    /// that only the longest list has are not read.
    /// </summary>
    private long CountAny()
    {
        Debug.Assert(order.Length == Terms.Length && !_plan.IsAll, "each list of a disjunction is counted");
        PostingList longest = Terms[order[^1]].List;
        ReadOnlySpan<int> others = order.AsSpan(..^1);
        Span<int> at = stackalloc int[Terms.Length];
        at.Clear();
        Span<ulong> words = stackalloc ulong[BitmapKernels.Words];
        long total = Terms[order[^1]].Entries;
        for (long window = 0; ; window++)
        {
            _context.Check();
            long next = PostingList.End;
            foreach (int i in others)
            {
                at[i] = Terms[i].List.Step(at[i], window);
                next = Math.Min(next, Terms[i].List[at[i]].Window);
            }

            if (next == PostingList.End)
                return total;
            window = next;
            words.Clear();
            foreach (int i in others)
            {
                if (Terms[i].List[at[i]].Window == window)
                    Terms[i].List[at[i]].AddTo(words);
            }

            ref int place = ref at[order[^1]];
            place = longest.Step(place, window);
            total += BitmapKernels.Count(words) - (longest[place].Window == window ? longest[place].CountIn(words) : 0);
        }
    }

    /// <param name="list">The list.</param>
    /// <param name="range">The range to test its entries against.</param>
    /// <param name="node">The range's plan node, or null if no plan is requested.</param>
    private long Count(PostingList list, ColumnRangeOperator range, PlanNode? node)
    {
        if (node is null)
            return range.Count(list);

        _context.Tracer?.Enter(node);
        long count = range.Count(list);
        _context.Tracer?.Leave(node);
        node.Windows += list.Windows;
        node.RowsOut += count;
        return count;
    }

    /// <summary>
    /// Returns the first window at or after <paramref name="from"/> that all lists have, or any list, depending on the plan.
    /// </summary>
    private long NextWindow(Span<int> at, long from)
    {
        long window = _plan.IsAll ? from : PostingList.End;
        for (int i = 0; i < at.Length; i++)
        {
            PostingList list = Terms[i].List;
            at[i] = list.Step(at[i], _plan.IsAll ? window : from);
            long mine = list[at[i]].Window;
            if (_plan.IsAll && mine > window && mine != PostingList.End)
                i = -1;
            window = _plan.IsAll ? mine : Math.Min(window, mine);
            if (_plan.IsAll && mine == PostingList.End)
                break;
        }

        return window;
    }

    private void Fill(long window, ReadOnlySpan<int> at, WindowSet set)
    {
        Debug.Assert(at.Length == Terms.Length, "each list has a place");
        const int Ahead = 2;
        bool isFirst = true;
        foreach (int i in order)
        {
            PostingList list = Terms[i].List;
            if (at[i] + Ahead < list.Windows)
                list[at[i] + Ahead].PrefetchIds();
            ref readonly HeldWindow held = ref list[at[i]];
            if (held.Window != window)
                continue;
            if (isFirst)
                set.Set(held.Postings);
            else if (_plan.IsAll)
                set.And(held.Postings);
            else
                set.Or(held.Postings);
            isFirst = false;
        }
    }
}
