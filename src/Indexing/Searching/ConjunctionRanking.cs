using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Sorting;
using Treepie.Storage.Kernels;

namespace Treepie.Indexing.Searching;

/// <summary>Of lists all of which have to match: the rarest leads, merged with those that are not much longer; what is left of a window is sought in the others.</summary>
internal sealed class ConjunctionRanking(QueryContext context, ListQuery query, HitSorter sorter) : ListRanking(context, query, sorter)
{
    /// <summary>From so many entries of the rarest list on it pays to know what the others can give.</summary>
    private const int ManyEntries = 512;

    private readonly ushort[] hits = context.RentOffsets(PostingWindow.Size + UnrolledList.Padding);

    public override long Run(bool countsHits)
    {
        Unroll();
        int[] order = Order();
        Span<float> others = [];
        if (Query.Clauses[order[0]].List.Estimate >= ManyEntries && HasOthers)
        {
            int windows = checked((int)Context.View.WindowCount);
            others = Context.RentNumbers(windows).AsSpan(0, windows);
            others.Clear();
            AddOthers(others);
        }

        return Run(order, others);
    }

    private long Run(ReadOnlySpan<int> order, ReadOnlySpan<float> others)
    {
        UnrolledList lead = Lists[order[0]]!; // the rarest list is merged
        long total = 0;
        for (int place = 0; place < lead.Count; place++)
        {
            long window = lead.WindowAt(place);
            Places[order[0]] = place;
            if ((place & 63) == 0)
                Context.Check();
            int count = Intersect(window, order);
            if (count == 0)
                continue;

            total += count;
            if (IsBelow(window, others))
            {
                WindowsBelowBound++;
                continue;
            }

            WindowsScored++;
            OfferPromising(window, hits.AsSpan(0, count), others.IsEmpty ? float.PositiveInfinity : others[(int)window]);
        }

        return total;
    }

    /// <summary>Finds the hits of a window on which the first list stands; returns how many there are.</summary>
    private int Intersect(long window, ReadOnlySpan<int> order)
    {
        UnrolledList lead = Lists[order[0]]!; // merged
        for (int i = 1; i < order.Length && IsMerged(order[i]); i++)
        {
            UnrolledList list = Lists[order[i]]!; // merged
            ref int place = ref Places[order[i]];
            place = list.Step(place, window);
            if (list.WindowAt(place) != window)
                return 0;
        }

        int at = Places[order[0]], count = lead.CountAt(at), next = 1;
        if (IsMerged(order[1]))
        {
            UnrolledList second = Lists[order[1]]!; // merged
            count = OffsetKernels.Intersect(lead.PaddedAt(at), count, second.OffsetsAt(Places[order[1]]), hits);
            next = 2;
        }
        else
        {
            lead.OffsetsAt(at).CopyTo(hits);
        }

        for (; next < order.Length && count > 0; next++)
        {
            int clause = order[next];
            count = IsMerged(clause)
                ? SortedSets.Intersect(hits.AsSpan(0, count), Lists[clause]!.OffsetsAt(Places[clause])) // merged
                : Keep(clause, window, hits.AsSpan(0, count), wanted: true);
        }

        return count;
    }

    /// <summary>Whether no hit of a window can be one of the best.</summary>
    private bool IsBelow(long window, ReadOnlySpan<float> others)
    {
        if (Sorter.WorstScore <= 0 || (others.IsEmpty && HasOthers))
            return false;

        float most = others.IsEmpty ? 0 : others[(int)window];
        for (int i = 0; i < Places.Length; i++)
            most += IsMerged(i) ? Bound(i, Places[i]) : 0;
        return most * Margin < Sorter.WorstScore;
    }
}
