using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Sorting;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Finds the best hits of a <see cref="ListQuery"/>: the windows of lists of few entries are put side by side once and merged; longer lists are asked about what is left. Scores are the same,
/// to the last bit, as those the operators add up.
/// </summary>
internal abstract class ListRanking(QueryContext context, ListQuery query, HitSorter sorter)
{
    /// <summary>As <see cref="BoundedRanking.Margin"/>.</summary>
    protected const float Margin = BoundedRanking.Margin;

    private readonly ushort[] promising = context.RentOffsets(PostingWindow.Size);
    private readonly float[] scores = context.RentNumbers(PostingWindow.Size);
    private readonly UnrolledList?[] lists = new UnrolledList?[query.Clauses.Length];
    private readonly int[] places = new int[query.Clauses.Length];
    private readonly bool areOthersPlaced = !Array.Exists(query.Ways, way => way == ListWay.Asked);

    protected QueryContext Context => context;

    protected ListQuery Query => query;

    protected HitSorter Sorter => sorter;

    /// <summary>By clause, its windows; null for one that is asked.</summary>
    protected ReadOnlySpan<UnrolledList?> Lists => lists;

    /// <summary>By clause, the place in its windows.</summary>
    protected Span<int> Places => places;

    /// <summary>Windows that were scored.</summary>
    public long WindowsScored { get; protected set; }

    /// <summary>Windows that may have hits, none of which could be among the best.</summary>
    public long WindowsBelowBound { get; protected set; }

    /// <summary>Whether the number of hits that <see cref="Run"/> returns is that of all.</summary>
    public bool IsTotalExact { get; protected set; } = true;

    public static ListRanking Open(QueryContext context, ListQuery query, HitSorter sorter) =>
        !query.IsAll ? new DisjunctionRanking(context, query, sorter)
        : query.IsByBlocks ? new BlockRanking(context, query, sorter)
        : Array.Exists(query.Ways, way => way == ListWay.Placed) && !Array.Exists(query.Ways, way => way == ListWay.Asked) ? new ProbedRanking(context, query, sorter)
        : new ConjunctionRanking(context, query, sorter);

    /// <summary>Offers the best hits to the sorter; returns how many hits there are, or how many were seen where they need not be counted.</summary>
    public abstract long Run(bool countsHits);

    /// <summary>Whether there are lists that are not merged.</summary>
    protected bool HasOthers { get; } = Array.Exists(query.Ways, way => way != ListWay.Merged);

    /// <summary>Whether a list is merged.</summary>
    protected bool IsMerged(int clause) => query.Ways[clause] == ListWay.Merged;

    /// <summary>Puts the windows of a list side by side, or also the offsets of its entries.</summary>
    protected void Unroll(int clause, bool copied)
    {
        UnrolledList list = context.Rent<UnrolledList>();
        query.Clauses[clause].Source.Unroll(list, copied);
        lists[clause] = list;
        if (IsMerged(clause))
            CountMerged(clause);
    }

    /// <summary>Puts the windows of all lists side by side that are not asked; of those that are merged also the offsets of their entries.</summary>
    protected void Unroll()
    {
        for (int i = 0; i < lists.Length; i++)
        {
            if (query.Ways[i] != ListWay.Asked)
                Unroll(i, copied: IsMerged(i));
        }
    }

    /// <summary>Counts the entries of a list that is merged. Those of a short one were counted when it was decoded.</summary>
    protected void CountMerged(int clause)
    {
        if (query.Clauses[clause].List is LongListOperator merged)
            context.Meter.Count.EntriesScanned += merged.Estimate;
    }

    /// <summary>The segments of a list that is merged.</summary>
    protected SegmentList Collect(int clause)
    {
        SegmentList list = context.Rent<SegmentList>();
        query.Clauses[clause].Source.Collect(list);
        CountMerged(clause);
        return list;
    }

    /// <summary>The clauses of a conjunction, merged lists first, and rare ones before others.</summary>
    protected int[] Order()
    {
        int[] order = new int[query.Clauses.Length];
        for (int i = 0; i < order.Length; i++)
        {
            int place = i;
            for (; place > 0 && IsBefore(i, order[place - 1]); place--)
                order[place] = order[place - 1];
            order[place] = i;
        }

        return order;
    }

    private bool IsBefore(int clause, int other) => IsMerged(clause) != IsMerged(other)
        ? IsMerged(clause)
        : query.Clauses[clause].List.Estimate < query.Clauses[other].List.Estimate;

    /// <summary>The most that an entry of the window at the place of a merged list can get from it.</summary>
    protected float Bound(int clause, int place) => lists[clause]!.Bound(place, query.Clauses[clause].Unit, query.Clauses[clause].Most); // merged

    /// <summary>Adds to numbers by window the most that the lists that are not merged give an entry of it.</summary>
    protected void AddOthers(Span<float> windows)
    {
        Span<float> mine = context.RentNumbers(windows.Length).AsSpan(0, windows.Length);
        for (int i = 0; i < lists.Length; i++)
        {
            if (IsMerged(i))
                continue;
            query.Clauses[i].Source.Bounds(mine, query.Boost);
            for (int window = 0; window < mine.Length; window++)
                windows[window] += Math.Max(0, mine[window]);
        }
    }

    /// <summary>Offers those hits of a window that can be among the best with the most that lists that are not merged give them.</summary>
    /// <param name="window">The window.</param>
    /// <param name="hits">The hits, ascending.</param>
    /// <param name="others">The most that these lists give; infinity where that is not known.</param>
    protected void OfferPromising(long window, ReadOnlySpan<ushort> hits, float others)
    {
        context.Meter.Count.CandidatesScored += hits.Length;
        if (!HasOthers || sorter.WorstScore <= 0 || float.IsInfinity(others))
        {
            Offer(window, hits);
            return;
        }

        Span<float> sums = Score(window, hits, withOthers: false);
        int left = 0;
        for (int i = 0; i < hits.Length; i++)
        {
            promising[left] = hits[i];
            sums[left] = sums[i];
            left += (sums[left] + others) * Margin >= sorter.WorstScore ? 1 : 0;
        }

        left = KeepPromising(window, left, sums);
        if (left > 0)
            Offer(window, promising.AsSpan(0, left));
    }

    /// <summary>Of entries that are promising by what the other lists can give in the window, keeps those that are by what they can give in the block, and to those they have. Returns how many stay.</summary>
    private int KeepPromising(long window, int count, Span<float> sums)
    {
        if (count == 0 || !areOthersPlaced)
            return count;
        for (int i = 0; i < lists.Length; i++)
        {
            if (!IsMerged(i) && lists[i] is { } list && list.WindowAt(places[i]) == window)
                list.AddBounds(places[i], promising.AsSpan(0, count), sums, query.Clauses[i].Unit, query.Clauses[i].Most);
        }

        int left = 0;
        for (int i = 0; i < count; i++)
        {
            promising[left] = promising[i];
            left += sums[i] * Margin >= sorter.WorstScore ? 1 : 0;
        }

        return left;
    }

    /// <summary>Of ascending entries of a window, keeps those that a list has that is not merged, or those that it has not; returns how many stay.</summary>
    protected int Keep(int clause, long window, Span<ushort> entries, bool wanted)
    {
        if (lists[clause] is not { } list)
            return query.Clauses[clause].Source.Keep(window, entries, wanted);
        places[clause] = list.Step(places[clause], window);
        list.Announce(places[clause]);
        return list.WindowAt(places[clause]) == window ? list.PostingsAt(places[clause]).Keep(entries, wanted) : wanted ? 0 : entries.Length;
    }

    /// <summary>Offers hits of a window, ascending, with the sums of what all lists that stand on it give them.</summary>
    protected void Offer(long window, ReadOnlySpan<ushort> hits)
    {
        Span<float> sums = Score(window, hits, withOthers: true);
        long start = window << PostingWindow.SizeBits;
        for (int i = 0; i < hits.Length; i++)
            sorter.AddIfBetter(start + hits[i], sums[i]);
    }

    /// <summary>The sums of what the merged lists, or all, give hits of a window.</summary>
    protected Span<float> Score(long window, ReadOnlySpan<ushort> hits, bool withOthers)
    {
        Span<float> sums = scores.AsSpan(0, hits.Length);
        sums.Clear();
        for (int i = 0; i < lists.Length; i++)
        {
            if (withOthers || IsMerged(i))
                Score(i, window, hits, sums);
        }

        return sums;
    }

    /// <summary>Adds what a list gives hits of a window.</summary>
    protected virtual void Score(int clause, long window, ReadOnlySpan<ushort> hits, Span<float> sums)
    {
        if (lists[clause] is not { } list)
            query.Clauses[clause].Source.Score(window, hits, sums, query.Boost);
        else if (list.WindowAt(places[clause]) == window)
            list.Score(places[clause], query.Clauses[clause].Scorer, hits, sums, query.Clauses[clause].Boost);
    }
}
