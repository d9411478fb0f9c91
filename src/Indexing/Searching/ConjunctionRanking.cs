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
        Unroll(copied: false);
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

        int at = Places[order[0]], count, next = 1;
        if (IsMerged(order[1]))
        {
            count = Meet(lead, at, Lists[order[1]]!, Places[order[1]]); // merged
            next = 2;
        }
        else
        {
            count = Copy(lead, at);
        }

        for (; next < order.Length && count > 0; next++)
        {
            int clause = order[next];
            count = IsMerged(clause)
                ? KeepMerged(Lists[clause]!, Places[clause], count) // merged
                : Keep(clause, window, hits.AsSpan(0, count), wanted: true);
        }

        return count;
    }

    /// <summary>Writes what two lists have in common in a window; returns how many. Mostly they have few entries there and nothing in common.</summary>
    private int Meet(UnrolledList one, int oneAt, UnrolledList other, int otherAt)
    {
        int oneCount = one.CountAt(oneAt), otherCount = other.CountAt(otherAt);
        ReadOnlySpan<ushort> left = one.ListAt(oneAt), right = other.ListAt(otherAt);
        if (oneCount <= OffsetKernels.Few && otherCount <= OffsetKernels.Few && left.Length >= OffsetKernels.Few && right.Length >= OffsetKernels.Few)
        {
            return oneCount < otherCount
                ? OffsetKernels.IntersectFew(right, otherCount, left, oneCount, hits)
                : OffsetKernels.IntersectFew(left, oneCount, right, otherCount, hits);
        }

        if (!right.IsEmpty && left.Length >= oneCount + UnrolledList.Padding)
            return OffsetKernels.Intersect(left, oneCount, right[..otherCount], hits);
        if (!left.IsEmpty && right.Length >= otherCount + UnrolledList.Padding)
            return OffsetKernels.Intersect(right, otherCount, left[..oneCount], hits);
        if (!left.IsEmpty)
            return KeepMerged(other, otherAt, Copy(one, oneAt));
        return KeepMerged(one, oneAt, Copy(other, otherAt));
    }

    /// <summary>Writes the entries of a window of a merged list; returns how many.</summary>
    private int Copy(UnrolledList list, int place)
    {
        int count = list.CountAt(place);
        ReadOnlySpan<ushort> mine = list.ListAt(place);
        if (mine.IsEmpty)
            return list.PostingsAt(place).CopyOffsets(hits);
        mine[..count].CopyTo(hits);
        return count;
    }

    /// <summary>Of the hits written, keeps those that a merged list has; returns how many.</summary>
    private int KeepMerged(UnrolledList list, int place, int count)
    {
        ReadOnlySpan<ushort> mine = list.ListAt(place);
        return mine.IsEmpty ? list.PostingsAt(place).Keep(hits.AsSpan(0, count), wanted: true) : SortedSets.Intersect(hits.AsSpan(0, count), mine[..list.CountAt(place)]);
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
