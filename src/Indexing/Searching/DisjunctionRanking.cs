using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Sorting;
using Treepie.Storage.Kernels;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Of lists any of which has to match: what several of the merged lists have comes first, as an entry that has two rare words is mostly better than one that has one of them. What they say keeps
/// most of what one of the lists has alone from being looked at, and what the other, longer lists have alone comes last.
/// </summary>
/// <remarks>Costs: 16 bytes a window.</remarks>
internal sealed class DisjunctionRanking(QueryContext context, ListQuery query, HitSorter sorter) : ListRanking(context, query, sorter)
{
    /// <summary>How many windows are looked at before all others.</summary>
    private const int BestWindows = 8;

    /// <summary>In the place of a bound: entries of the window have been scored.</summary>
    private const float Scored = -2;

    private readonly ushort[] together = context.RentOffsets(PostingWindow.Size);
    private readonly ushort[] common = context.RentOffsets(PostingWindow.Size);
    private readonly ushort[] candidates = context.RentOffsets(2 * PostingWindow.Size);
    private readonly ushort[] scratch = context.RentOffsets(PostingWindow.Size);
    private readonly ulong[] once = context.RentWords(BitmapKernels.Words);
    private readonly ulong[] twice = context.RentWords(BitmapKernels.Words);
    private readonly int[] here = new int[query.Clauses.Length];

    /// <summary>The list that is not merged, where it is the only one; -1 otherwise.</summary>
    private readonly int onlyOther = query.Ways.Count(way => way != ListWay.Merged) == 1 ? Array.FindIndex(query.Ways, way => way != ListWay.Merged) : -1;

    private float[] others = [];
    private int hereCount;
    private int commonCount;

    public override long Run(bool countsHits)
    {
        Unroll();
        int windows = checked((int)Context.View.WindowCount);
        others = Context.RentNumbers(windows);
        others.AsSpan(0, windows).Clear();
        AddOthers(others.AsSpan(0, windows));
        Span<float> together = Context.RentNumbers(windows).AsSpan(0, windows), alone = Context.RentNumbers(windows).AsSpan(0, windows);
        AddBounds(together, alone);
        long total = RankCommon(together, countsHits);
        RankAlone(together, alone);
        for (int window = 0; window < windows; window++)
            WindowsBelowBound += together[window] >= 0 && alone[window] >= 0 ? 1 : 0;

        IsTotalExact = countsHits;
        return HasOthers ? total + RankOthers(countsHits) : total;
    }

    /// <summary>
    /// By window that merged lists have, the most that an entry can score that several of these have, and the most that one can score that one of them has;
    /// <see cref="Operator.NoMatch"/> in place of others.
    /// </summary>
    private void AddBounds(Span<float> together, Span<float> alone)
    {
        together.Fill(Operator.NoMatch);
        alone.Fill(Operator.NoMatch);
        for (int i = 0; i < Lists.Length; i++)
        {
            if (!IsMerged(i))
                continue;
            UnrolledList list = Lists[i]!; // merged
            for (int place = 0; place < list.Count; place++)
            {
                int window = (int)list.WindowAt(place);
                float bound = Bound(i, place);
                together[window] = Math.Max(0, together[window]) + bound;
                alone[window] = Math.Max(alone[window], bound);
            }
        }

        for (int window = 0; window < alone.Length; window++)
        {
            if (alone[window] < 0)
                continue;
            together[window] = (together[window] + others[window]) * Margin;
            alone[window] = (alone[window] + others[window]) * Margin;
        }
    }

    /// <summary>Offers what several of the merged lists have; returns how many entries they have that no other list has, or how many were seen where they need not be counted.</summary>
    private long RankCommon(Span<float> together, bool counts)
    {
        long total = 0;
        for (int window = 0; window < together.Length; window++)
        {
            if (together[window] < 0 || (!counts && together[window] < Sorter.WorstScore))
                continue;
            if ((window & 63) == 0)
                Context.Check();
            int all = Stand(window);
            total += counts ? CountAlone(window, all) : all;
            if (commonCount == 0 || together[window] < Sorter.WorstScore)
                continue;
            OfferPromising(window, common.AsSpan(0, commonCount), others[window]);
            together[window] = Scored;
            WindowsScored++;
        }

        return total;
    }

    /// <summary>Offers what one of the merged lists has alone, in the windows that promise most and then in order, and notes where.</summary>
    private void RankAlone(ReadOnlySpan<float> together, Span<float> alone)
    {
        Span<int> best = stackalloc int[BestWindows];
        best = best[..BoundKernels.TakeBest(alone, best)];
        foreach (int window in best)
        {
            if (alone[window] < Sorter.WorstScore)
                return;
            for (int i = 0; i < Places.Length; i++)
                Places[i] = Lists[i]?.Seek(window) ?? 0;
            VisitAlone(window);
            WindowsScored += together[window] == Scored ? 0 : 1;
            alone[window] = Scored;
        }

        Places.Clear();
        for (int window = 0; window < alone.Length; window++)
        {
            if (alone[window] < 0 || alone[window] < Sorter.WorstScore)
                continue;
            VisitAlone(window);
            WindowsScored += together[window] == Scored ? 0 : 1;
            alone[window] = Scored;
        }
    }

    private void VisitAlone(int window)
    {
        Context.Check();
        Stand(window);
        for (int i = 0; i < hereCount; i++)
            Lists[here[i]]!.AnnounceLengths(Places[here[i]] + 1, Query.Clauses[here[i]].Scorer); // merged
        ReadOnlySpan<ushort> promising = Candidates(window);
        if (!promising.IsEmpty)
            OfferPromising(window, promising, others[window]);
    }

    /// <summary>Stands on a window and merges what lists have there; returns how many entries these have together.</summary>
    private int Stand(long window)
    {
        hereCount = 0;
        for (int i = 0; i < Places.Length; i++)
        {
            if (Lists[i] is not { } list)
                continue;
            Places[i] = list.Step(Places[i], window);
            if (IsMerged(i) && list.WindowAt(Places[i]) == window)
                here[hereCount++] = i;
        }

        return Merge();
    }

    /// <summary>Finds what two of the lists or more have in common, and of three lists or more what they have together. Returns how many entries they have together.</summary>
    private int Merge()
    {
        commonCount = 0;
        if (hereCount == 1)
            return Here(0).Length;
        if (hereCount == 2)
        {
            ReadOnlySpan<ushort> padded = Lists[here[0]]!.PaddedAt(Places[here[0]]); // merged
            commonCount = OffsetKernels.Intersect(padded, padded.Length - UnrolledList.Padding, Here(1), common);
            return Here(0).Length + Here(1).Length - commonCount;
        }

        Span<ulong> once = this.once.AsSpan(0, BitmapKernels.Words), twice = this.twice.AsSpan(0, BitmapKernels.Words);
        once.Clear();
        twice.Clear();
        for (int i = 0; i < hereCount; i++)
        {
            foreach (ushort offset in Here(i))
            {
                ulong bit = 1UL << (offset & (PostingWindow.Blocks - 1));
                twice[offset >> PostingWindow.BlockBits] |= once[offset >> PostingWindow.BlockBits] & bit;
                once[offset >> PostingWindow.BlockBits] |= bit;
            }
        }

        commonCount = BitmapKernels.Decode(twice, common);
        return BitmapKernels.Decode(once, together);
    }

    /// <summary>The offsets that one of the lists has that stand on the window.</summary>
    private ReadOnlySpan<ushort> Here(int place) => Lists[here[place]]!.OffsetsAt(Places[here[place]]); // merged

    /// <summary>Finds the entries of the window, ascending, that one of the lists has alone and that may be among the best.</summary>
    private ReadOnlySpan<ushort> Candidates(long window)
    {
        int count = 0;
        for (int i = 0; i < hereCount; i++)
        {
            int clause = here[i], place = Places[clause];
            float least = (Sorter.WorstScore / Margin) - others[(int)window];
            if (Bound(clause, place) < least)
                continue;
            ListClause list = Query.Clauses[clause];
            Span<ushort> reaching = count == 0 ? candidates : scratch;
            int found = Lists[clause]!.CopyReaching(place, list.Scorer, least, list.Boost, reaching); // merged
            count = count == 0 ? found : OffsetKernels.Unite(candidates, count, scratch.AsSpan(0, found));
        }

        return candidates.AsSpan(0, commonCount == 0 ? count : SortedSets.Except(candidates.AsSpan(0, count), common.AsSpan(0, commonCount)));
    }

    /// <summary>How many entries of the window the merged lists have that no other list has.</summary>
    private int CountAlone(long window, int all)
    {
        if (!HasOthers)
            return all;
        if (hereCount == 1)
            return CountAlone(window, Here(0));
        return hereCount == 2
            ? CountAlone(window, Here(0)) + CountAlone(window, Here(1)) - CountAlone(window, common.AsSpan(0, commonCount))
            : CountAlone(window, together.AsSpan(0, all));
    }

    private int CountAlone(long window, ReadOnlySpan<ushort> entries)
    {
        if (onlyOther >= 0 && Lists[onlyOther] is { } list)
        {
            list.Announce(Places[onlyOther]);
            return entries.Length - (list.WindowAt(Places[onlyOther]) == window ? list.PostingsAt(Places[onlyOther]).CountIn(entries) : 0);
        }

        Span<ushort> left = scratch.AsSpan(0, entries.Length);
        entries.CopyTo(left);
        for (int i = 0; i < Query.Clauses.Length && !left.IsEmpty; i++)
        {
            if (!IsMerged(i))
                left = left[..Keep(i, window, left, wanted: false)];
        }

        return left.Length;
    }

    /// <summary>Offers what the other lists have alone, as far as it can be among the best; returns how many entries they have, or how many of these were seen where they need not be counted.</summary>
    private long RankOthers(bool counts)
    {
        Operator[] clauses = [.. Query.Clauses.Where((_, i) => !IsMerged(i)).Select(clause => clause.Source)];
        Operator all = clauses.Length == 1 ? clauses[0] : new OrOperator(Context, clauses);
        long total = 0;
        if (counts && all.IsExact)
        {
            total = all.Estimate;
        }
        else if (counts && Array.TrueForAll(Query.Ways, way => way != ListWay.Asked))
        {
            total = UnitedCount.Of(Context, [.. Lists.ToArray().Where((_, i) => !IsMerged(i)).Select(list => list!)]);
        }
        else if (counts)
        {
            for (long window = all.Next(0); window != Operator.End; window = all.Next(window + 1))
            {
                Context.Check();
                total += all.Count(window);
            }
        }

        if (Query.Boost != 1)
            all = new BoostOperator(Context, all, Query.Boost);
        var ranking = new BoundedRanking(Context, new ExceptListsOperator(Context, all, [.. Lists.ToArray().Where((_, i) => IsMerged(i)).Select(list => list!)]), Sorter);
        long seen = ranking.Run(countsHits: false);
        WindowsScored += ranking.WindowsScored;
        WindowsBelowBound += ranking.WindowsBelowBound;
        return counts ? total : seen;
    }
}
