using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.TopK;

/// <summary>Counts the hits of a <see cref="TopKPlan"/> if the search for the best does not see all of them.</summary>
/// <param name="hits">The plan.</param>
/// <param name="terms">Its lists, the rarest first.</param>
internal sealed class HitCount(TopKHits hits, TopKTerm[] terms)
{
    private readonly QueryContext _context = hits.Context;
    private readonly TopKPlan _plan = hits.Plan;

    /// <summary>Counts all hits, window by window. All lists must be unrolled.</summary>
    public long Run()
    {
        if (_plan is { TermCount: 1, Filters: [{ IsWanted: true, Operator: { } filter }] }
            && ColumnRangeOperator.Of(filter) is { } range)
            return Count(terms[0].List, range, _context.Tracer is null ? null : filter.Describe());
        if (!_plan.IsAll && _plan.Filters.Count == 0)
            return CountAny();
        WindowSet set = _context.Rent();
        Span<int> at = stackalloc int[terms.Length];
        at.Clear();
        long total = 0;
        for (long window = 0; ; window++)
        {
            _context.Check();
            window = _plan.IsAll ? TopKTerm.StepAll(terms, at, window) : TopKTerm.StepAny(terms, at, window);
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
        Debug.Assert(terms.Length == _plan.TermCount && !_plan.IsAll, "each list of a disjunction is counted");
        PostingList longest = terms[^1].List;
        ReadOnlySpan<TopKTerm> others = terms.AsSpan(..^1);
        Span<int> at = stackalloc int[others.Length];
        at.Clear();
        Span<ulong> words = stackalloc ulong[BitmapKernels.Words];
        long total = terms[^1].Entries;
        int place = 0;
        for (long window = 0; ; window++)
        {
            _context.Check();
            window = TopKTerm.StepAny(others, at, window);
            if (window == PostingList.End)
                return total;
            words.Clear();
            for (int i = 0; i < others.Length; i++)
            {
                ref readonly HeldWindow mine = ref others[i].List[at[i]];
                if (mine.Window == window)
                    mine.AddTo(words);
            }

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

    private void Fill(long window, ReadOnlySpan<int> at, WindowSet set)
    {
        Debug.Assert(at.Length == terms.Length, "each list has a place");
        const int Ahead = 2;
        bool isFirst = true;
        for (int i = 0; i < terms.Length; i++)
        {
            PostingList list = terms[i].List;
            if (at[i] + Ahead < list.Windows)
                list[at[i] + Ahead].PrefetchIds();
            ref readonly HeldWindow held = ref list[at[i]];
            if (held.Window != window)
                continue;
            if (isFirst)
                set.Set(held.Postings);
            else
                set.Combine(_plan.IsAll ? SetOperation.And : SetOperation.Or, held.Postings);
            isFirst = false;
        }
    }
}
