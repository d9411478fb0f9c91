using System.Runtime.CompilerServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Sorting;
using Treepie.Storage.Kernels;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Of lists all of which have to match, one of few entries a window and others of many: the entries of the rarest are sought in all windows of the others first, which is a look at a bit for each, so they are counted in any case. Then the
/// hits stand side by side, and what the shorter lists give them is added up for those of windows that promise enough. Those that have most of it are scored first, so that of most others nothing is
/// looked at in the longer lists.
/// </summary>
/// <remarks>Memory until the query ends: 18 bytes an entry of the rarest list, 6 bytes a window that it has.</remarks>
internal sealed class ProbedRanking(QueryContext context, ListQuery query, HitSorter sorter) : ListRanking(context, query, sorter)
{
    /// <summary>From so many hits on the windows that promise most are looked at before all others.</summary>
    private const int ManyHits = 96;

    /// <summary>How many windows these are.</summary>
    private const int BestWindows = 8;

    /// <summary>So many of the hits are scored first.</summary>
    private const int BestHits = 16;

    /// <summary>So many windows before they are looked at, what they are looked up in is asked for.</summary>
    private const int Ahead = 6;

    /// <summary>In the place of a hit: it has been scored.</summary>
    private const ulong Done = ulong.MaxValue;

    private int[] order = [];
    private ushort[] hits = [];
    private ushort[] counts = [];

    /// <summary>The most that the longer lists give, by window.</summary>
    private float[] others = [];

    private UnrolledList Lead => Lists[order[0]]!; // the rarest list is merged

    public override long Run(bool countsHits)
    {
        Unroll();
        order = Order();
        hits = Context.RentOffsets(Lead.AllOffsets.Length);
        counts = Context.RentOffsets(Lead.Count);
        Lead.AllOffsets.CopyTo(hits);
        long total = Probe();
        if (total > 0)
            Rank(total);
        return total;
    }

    /// <summary>Seeks the entries of all windows; returns how many are hits.</summary>
    private long Probe()
    {
        UnrolledList lead = Lead;
        UnrolledList? next = IsMerged(order[1]) ? null : Lists[order[1]]; // those behind it are asked about few
        Ranking.LengthFactors? lengths = Query.Clauses[order[0]].Scorer?.Factors;
        long total = 0;
        for (int place = 0, soon = 0, there = 0; place < lead.Count; place++)
        {
            if ((place & 63) == 0)
                Context.Check();
            for (; next is not null && soon < Math.Min(lead.Count, place + Ahead); soon++)
            {
                there = next.Step(there, lead.WindowAt(soon));
                if (next.WindowAt(there) == lead.WindowAt(soon))
                    next.Announce(there, lead.OffsetsAt(soon));
            }

            int count = Probe(place);
            counts[place] = (ushort)count;
            total += count;
            if (count > 0)
                lengths?.Prefetch(lead.WindowAt(place), hits.AsSpan(lead.StartAt(place), count));
        }

        return total;
    }

    /// <summary>Seeks the entries of a window; returns how many are hits.</summary>
    private int Probe(int place)
    {
        long window = Lead.WindowAt(place);
        Span<ushort> left = hits.AsSpan(Lead.StartAt(place), Lead.CountAt(place));
        for (int i = 1; i < order.Length && !left.IsEmpty; i++)
        {
            int clause = order[i];
            UnrolledList list = Lists[clause]!; // none is asked
            ref int at = ref Places[clause];
            at = list.Step(at, window);
            if (list.WindowAt(at) != window)
                return 0;
            left = left[..(IsMerged(clause) ? SortedSets.Intersect(left, list.OffsetsAt(at)) : list.PostingsAt(at).Keep(left, wanted: true))];
        }

        return left.Length;
    }

    /// <summary>Offers the best hits.</summary>
    private void Rank(long total)
    {
        int windows = checked((int)Context.View.WindowCount);
        others = Context.RentNumbers(windows);
        others.AsSpan(0, windows).Clear();
        AddOthers(others.AsSpan(0, windows));
        Span<float> bounds = Context.RentNumbers(Lead.Count).AsSpan(0, Lead.Count);
        AddBounds(bounds);
        if (total >= ManyHits)
        {
            Span<int> best = stackalloc int[BestWindows];
            foreach (int place in best[..BoundKernels.TakeBest(bounds, best)])
            {
                if (IsBelow(bounds[place]))
                    break;
                Stand(place, isInOrder: false);
                WindowsScored++;
                OfferPromising(Lead.WindowAt(place), hits.AsSpan(Lead.StartAt(place), counts[place]), others[(int)Lead.WindowAt(place)]);
                counts[place] = 0; // it is done
            }
        }

        RankHits(bounds);
    }

    /// <summary>By window of the rarest list, the most that a hit can score; below 0 where there is none.</summary>
    private void AddBounds(Span<float> bounds)
    {
        Places.Clear();
        for (int place = 0; place < bounds.Length; place++)
        {
            long window = Lead.WindowAt(place);
            float most = Bound(order[0], place) + others[(int)window];
            for (int i = 1; i < order.Length && IsMerged(order[i]); i++)
            {
                UnrolledList list = Lists[order[i]]!; // merged
                ref int at = ref Places[order[i]];
                at = list.Step(at, window);
                most += list.WindowAt(at) == window ? Bound(order[i], at) : 0;
            }

            bounds[place] = counts[place] == 0 ? Operator.NoMatch : most * Margin;
        }

        Places.Clear();
    }

    /// <summary>Of the hits of all windows that promise enough, scores those first that get most from the shorter lists.</summary>
    private void RankHits(ReadOnlySpan<float> bounds)
    {
        // By hit what the shorter lists give it, the most that it can score, and place and entry: candidates go to the front, as there are never more of them than hits were gone along.
        int room = Lead.AllOffsets.Length, candidates = 0;
        Span<float> parts = Context.RentNumbers(room).AsSpan(0, room), most = Context.RentNumbers(room).AsSpan(0, room);
        Span<ulong> found = Context.RentWords(room).AsSpan(0, room);
        float least = Sorter.WorstScore > 0 ? Sorter.WorstScore : float.NegativeInfinity;
        Places.Clear(); // the best windows were not looked at in order
        for (int place = 0; place < bounds.Length; place++)
        {
            int count = counts[place];
            if (count == 0)
                continue;
            if (bounds[place] < least)
            {
                WindowsBelowBound++;
                continue;
            }

            Stand(place, isInOrder: true);
            WindowsScored++;
            Context.Meter.Count.CandidatesScored += count;
            if ((WindowsScored & 63) == 0)
                Context.Check();
            long window = Lead.WindowAt(place);
            ReadOnlySpan<ushort> mine = hits.AsSpan(Lead.StartAt(place), count);
            ReadOnlySpan<float> sums = Score(window, mine, withOthers: false);
            float rest = others[(int)window];
            for (int i = 0; i < count; i++)
            {
                float bound = (sums[i] + rest) * Margin;
                (parts[candidates], most[candidates], found[candidates]) = (sums[i], bound, ((ulong)place << PostingWindow.SizeBits) + mine[i]);
                candidates += bound < least ? 0 : 1;
            }
        }

        OfferBest(parts, most[..candidates], found);
    }

    /// <summary>Scores hits, those with the greatest bounds first, and the others as far as they can still be among the best.</summary>
    private void OfferBest(ReadOnlySpan<float> parts, ReadOnlySpan<float> most, Span<ulong> found)
    {
        Span<int> best = stackalloc int[BestHits];
        foreach (int hit in best[..BoundKernels.TakeBest(most, best)])
        {
            if (IsBelow(most[hit]))
                return;
            Offer(found[hit], parts[hit], isInOrder: false);
            found[hit] = Done;
        }

        Places.Clear();
        for (int hit = 0; hit < most.Length; hit++)
        {
            if (IsBelow(most[hit]) || found[hit] == Done)
                continue;
            Context.Check();
            Offer(found[hit], parts[hit], isInOrder: true);
        }
    }

    /// <summary>Scores a hit, if it can be one of the best with the most that the longer lists give in its block.</summary>
    private void Offer(ulong hit, float part, bool isInOrder)
    {
        int place = (int)(hit >> PostingWindow.SizeBits);
        ushort entry = (ushort)(hit & (PostingWindow.Size - 1));
        Stand(place, isInOrder);
        for (int i = 1; i < order.Length; i++)
        {
            if (!IsMerged(order[i]))
                part += Lists[order[i]]!.Bound(Places[order[i]], entry, Query.Clauses[order[i]].Unit, Query.Clauses[order[i]].Most); // none is asked
        }

        if (!IsBelow(part * Margin))
            Offer(Lead.WindowAt(place), [entry]);
    }

    /// <summary>Whether a hit that scores so much at the most is none of the best.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool IsBelow(float most) => most < Sorter.WorstScore && Sorter.WorstScore > 0;

    /// <summary>Lets all lists stand on a window of the rarest.</summary>
    private void Stand(int place, bool isInOrder)
    {
        long window = Lead.WindowAt(place);
        Places[order[0]] = place;
        for (int i = 1; i < order.Length; i++)
        {
            UnrolledList list = Lists[order[i]]!; // none is asked
            Places[order[i]] = isInOrder ? list.Step(Places[order[i]], window) : list.Seek(window);
        }
    }
}
