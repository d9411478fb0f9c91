using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Sorting;

namespace Treepie.Indexing.Searching;

/// <summary>Of lists all of which have to match: those that are merged are gone along side by side, the rarest first; what they have in common in a window is sought in the others.</summary>
internal sealed class ConjunctionRanking(QueryContext context, ListQuery query, HitSorter sorter) : ListRanking(context, query, sorter)
{
    /// <summary>By clause, its segments; null for one that is not merged.</summary>
    private readonly SegmentList?[] segments = new SegmentList?[query.Clauses.Length];

    public override long Run(bool countsHits)
    {
        int[] order = Order();
        int merged = 0;
        var inOrder = new SegmentList[order.Length];
        for (; merged < order.Length && IsMerged(order[merged]); merged++)
            inOrder[merged] = segments[order[merged]] = Collect(order[merged]);
        for (int i = 0; i < order.Length; i++)
        {
            if (Query.Ways[i] == ListWay.Placed)
                Unroll(i, copied: false);
        }

        Span<float> others = [];
        if (Query.Clauses[order[0]].List.Estimate >= ListWays.ManyEntries && HasOthers)
        {
            int windows = checked((int)Context.View.WindowCount);
            others = Context.RentNumbers(windows).AsSpan(0, windows);
            others.Clear();
            AddOthers(others);
        }

        return Run(inOrder.AsSpan(0, merged), order.AsSpan(merged), others);
    }

    protected override void Score(int clause, long window, ReadOnlySpan<ushort> hits, Span<float> sums)
    {
        if (segments[clause] is { } list)
            list.Score(Query.Clauses[clause].Scorer, hits, sums, Query.Clauses[clause].Boost);
        else
            base.Score(clause, window, hits, sums);
    }

    private long Run(ReadOnlySpan<SegmentList> merged, ReadOnlySpan<int> asked, ReadOnlySpan<float> others)
    {
        var windows = new ListIntersection(merged, Context.RentOffsets(), Context, default);
        long total = 0;
        while (windows.MoveNext(out Span<ushort> hits))
        {
            long window = windows.Window;
            foreach (int clause in asked)
                hits = hits.IsEmpty ? hits : hits[..Keep(clause, window, hits, wanted: true)];
            if (hits.IsEmpty)
                continue;

            total += hits.Length;
            if (IsBelow(window, others))
            {
                WindowsBelowBound++;
                continue;
            }

            WindowsScored++;
            OfferPromising(window, hits, others.IsEmpty ? float.PositiveInfinity : others[(int)window]);
        }

        return total;
    }

    /// <summary>Whether no hit of a window can be one of the best.</summary>
    private bool IsBelow(long window, ReadOnlySpan<float> others)
    {
        if (Sorter.WorstScore <= 0 || (others.IsEmpty && HasOthers))
            return false;

        float most = others.IsEmpty ? 0 : others[(int)window];
        for (int i = 0; i < segments.Length; i++)
            most += segments[i]?.Bound(Query.Clauses[i].Unit, Query.Clauses[i].Most) ?? 0;
        return most * Margin < Sorter.WorstScore;
    }
}
