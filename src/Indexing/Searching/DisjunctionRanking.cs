using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Sorting;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Of lists any of which has to match: what the merged lists have comes first, in the windows that promise most and then in order. In a window where none of them alone reaches the worst hit kept,
/// only what two of them have is looked at. What the other, longer lists have alone follows by bounds, which are mostly too low by then.
/// </summary>
/// <remarks>Costs: 8 bytes a window.</remarks>
internal sealed class DisjunctionRanking(QueryContext context, ListQuery query, HitSorter sorter) : ListRanking(context, query, sorter)
{
    /// <summary>How many windows are looked at before all others.</summary>
    private const int BestWindows = 8;

    /// <summary>In the place of a bound: the window has been looked at.</summary>
    private const float Done = -2;

    private readonly ushort[] together = context.RentOffsets(PostingWindow.Size);
    private readonly ushort[] common = context.RentOffsets(PostingWindow.Size);
    private readonly ushort[] candidates = context.RentOffsets(2 * PostingWindow.Size);
    private readonly ushort[] scratch = context.RentOffsets(PostingWindow.Size);
    private readonly ulong[] once = context.RentWords(BitmapKernels.Words);
    private readonly ulong[] twice = context.RentWords(BitmapKernels.Words);
    private readonly int[] here = new int[query.Clauses.Length];
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
        Span<float> bounds = Context.RentNumbers(windows).AsSpan(0, windows);
        AddBounds(bounds);

        Span<int> best = stackalloc int[BestWindows];
        best = best[..BoundKernels.TakeBest(bounds, best)];
        long total = 0;
        foreach (int window in best)
        {
            for (int i = 0; i < Places.Length; i++)
                Places[i] = Lists[i]?.Seek(window) ?? 0;
            total += Visit(window, bounds[window], countsHits);
            bounds[window] = Done;
        }

        Places.Clear();
        for (int window = 0; window < bounds.Length; window++)
        {
            if (bounds[window] < 0 || (!countsHits && bounds[window] < Sorter.WorstScore))
                continue;
            for (int i = 0; i < Places.Length; i++)
                Places[i] = Lists[i]?.Step(Places[i], window) ?? 0;
            total += Visit(window, bounds[window], countsHits);
        }

        IsTotalExact = countsHits;
        return HasOthers ? total + RankOthers(countsHits) : total;
    }

    /// <summary>By window that merged lists have, the most that an entry of these can score; <see cref="Operator.NoMatch"/> in place of others.</summary>
    private void AddBounds(Span<float> bounds)
    {
        bounds.Fill(Operator.NoMatch);
        for (int i = 0; i < Lists.Length; i++)
        {
            if (!IsMerged(i))
                continue;
            UnrolledList list = Lists[i]!; // merged
            for (int place = 0; place < list.Count; place++)
            {
                ref float bound = ref bounds[(int)list.WindowAt(place)];
                bound = Math.Max(0, bound) + Bound(i, place);
            }
        }

        for (int window = 0; window < bounds.Length; window++)
            bounds[window] = bounds[window] < 0 ? Operator.NoMatch : (bounds[window] + others[window]) * Margin;
    }

    /// <summary>Looks at what the merged lists have in a window on which they stand; returns how many entries these are that no other list has, or how many were seen where they need not be counted.</summary>
    private int Visit(long window, float bound, bool counts)
    {
        if ((window & 63) == 0)
            Context.Check();
        hereCount = 0;
        for (int i = 0; i < Places.Length; i++)
        {
            if (IsMerged(i) && Lists[i] is { } list && list.WindowAt(Places[i]) == window)
                here[hereCount++] = i;
        }

        int all = Merge();
        if (bound < Sorter.WorstScore)
        {
            WindowsBelowBound++;
        }
        else
        {
            WindowsScored++;
            ReadOnlySpan<ushort> promising = Candidates(window);
            if (!promising.IsEmpty)
                OfferPromising(window, promising, others[(int)window]);
        }

        return counts ? CountAlone(window, all) : all;
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

    /// <summary>Finds the entries of the window that may be among the best, ascending: of a list that alone can reach the worst hit kept those that can, of others those that another one has, too.</summary>
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

        if (commonCount > 0)
            count = OffsetKernels.Unite(candidates, count, common.AsSpan(0, commonCount));
        return candidates.AsSpan(0, count);
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
            total = CountOthers();
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

    /// <summary>How many entries the lists have together whose windows are placed and not merged.</summary>
    private long CountOthers()
    {
        WindowSet set = Context.Rent();
        UnrolledList[] placed = [.. Lists.ToArray().Where((_, i) => !IsMerged(i)).Select(list => list!)]; // placed
        int[] at = new int[placed.Length];
        long total = 0;
        for (long window = 0; ;)
        {
            long next = Operator.End;
            int isIn = 0, first = -1, second = -1;
            for (int i = 0; i < placed.Length; i++)
            {
                at[i] = placed[i].Step(at[i], window);
                long mine = placed[i].WindowAt(at[i]);
                if (mine > next)
                    continue;
                isIn = mine == next ? isIn + 1 : 1;
                (first, second) = mine == next ? (first, second < 0 ? i : second) : (i, -1);
                next = mine;
            }

            if (next == Operator.End)
                break;
            if ((next & 63) == 0)
                Context.Check();
            PostingWindow one = placed[first].PostingsAt(at[first]);
            if (isIn == 1)
            {
                total += one.Count;
            }
            else if (isIn == 2 && one.Form == WindowSetForm.Bits && placed[second].PostingsAt(at[second]) is { Form: WindowSetForm.Bits } two)
            {
                total += one.Count + two.Count - BitmapKernels.CountBoth(one.Words, two.Bitmap);
            }
            else
            {
                set.SetEmpty();
                for (int i = 0; i < placed.Length; i++)
                {
                    if (placed[i].WindowAt(at[i]) == next)
                        set.Or(placed[i].PostingsAt(at[i]));
                }

                total += set.Count;
            }

            window = next + 1;
        }

        Context.Return(set);
        return total;
    }
}
