using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Sorting;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Finds the best hits without scoring the others. What any hit of a window can score at the most is known of every window before the first is looked at; the few most promising
/// come first. Their hits say what the others have to beat. Where hits are counted, all windows follow in order, and of those that can still hold one of the best the hits are
/// scored as they are found; where they are not, the next promising ones follow, until none can beat the worst hit kept. Within a window only blocks of 64 entries are looked at
/// that can still hold one of the best, and in these only entries that match enough.
/// </summary>
/// <remarks>Costs: 4 bytes a window; 12 where the first few do not settle it and hits are not counted.</remarks>
internal sealed class BoundedRanking(QueryContext context, Operator root, HitSorter sorter)
{
    /// <summary>Sums of bounds and of scores are rounded differently; this is a thousand times as much.</summary>
    private const float Margin = 1 + 1e-4f;

    private const int Blocks = PostingWindow.Blocks;

    /// <summary>So many hits, as is to be expected, are all scored: their bounds would cost more.</summary>
    private const int FewHits = 512;

    /// <summary>From so many hits of a window on its best blocks are scored first: what they give leaves most of the others out.</summary>
    private const int ManyHits = 128;

    /// <summary>How many blocks these are.</summary>
    private const int BestBlocks = 3;

    /// <summary>How many windows are looked at before all others.</summary>
    private const int BestWindows = 8;

    /// <summary>In the place of a bound: the window has been looked at.</summary>
    private const float Done = -2;

    private readonly WindowSet set = context.Rent();
    private readonly ushort[] offsets = context.RentOffsets();
    private readonly float[] scores = context.RentNumbers(PostingWindow.Size);
    private long possible;

    /// <summary>Windows that were scored.</summary>
    public long WindowsScored { get; private set; }

    /// <summary>Windows that may have hits, none of which could be among the best.</summary>
    public long WindowsBelowBound => possible - WindowsScored;

    /// <summary>Whether the number of hits that <see cref="Run"/> returns is that of all.</summary>
    public bool IsTotalExact { get; private set; }

    /// <summary>Offers the best hits to the sorter; returns how many hits there are, or how many were seen where they need not be counted.</summary>
    public long Run(bool countsHits)
    {
        IsTotalExact = countsHits || root.IsExact;
        long found;
        if (root.Likely <= FewHits)
        {
            found = ScoreAll();
            IsTotalExact = true;
        }
        else
        {
            int count = checked((int)context.View.WindowCount);
            found = RunByBounds(context.RentNumbers(count).AsSpan(0, count), countsHits && !root.IsExact);
        }

        context.Return(set);
        return root.IsExact ? root.Estimate : found;
    }

    private long ScoreAll()
    {
        Span<long> ids = stackalloc long[FlatPostings.MaxEntries];
        int known = root.ScoreEntries(ids, scores, 1);
        if (known >= 0)
        {
            context.Meter.Count.CandidatesScored += known;
            for (int i = 0; i < known; i++)
            {
                if (scores[i] > sorter.WorstScore || (scores[i] == sorter.WorstScore && ids[i] < sorter.WorstId))
                    sorter.Add(ids[i], scores[i]);
            }

            return known;
        }

        long found = 0;
        for (long window = root.Next(0); window != Operator.End; window = root.Next(window + 1))
        {
            context.Check();
            root.Fill(window, set);
            int count = set.CopyTo(offsets);
            if (count == 0)
                continue;
            found += count;
            possible++;
            WindowsScored++;
            Score(window, count);
        }

        return found;
    }

    private long RunByBounds(Span<float> bounds, bool counts)
    {
        root.Bounds(bounds, 1);
        foreach (ref float bound in bounds)
        {
            possible += bound < 0 ? 0 : 1;
            bound = bound < 0 ? bound : bound * Margin;
        }

        Span<int> best = stackalloc int[BestWindows];
        best = best[..TakeBest(bounds, best)];
        long seen = 0;
        foreach (int window in best)
        {
            if (bounds[window] < sorter.WorstScore)
                break;
            seen += Visit(window);
            bounds[window] = Done;
        }

        return counts ? GoAlong(bounds) : seen + GoDown(bounds);
    }

    /// <summary>The windows with the greatest bounds, descending; of equal ones the first. Returns how many there are.</summary>
    private static int TakeBest(ReadOnlySpan<float> bounds, Span<int> best)
    {
        int count = 0;
        for (int window = 0; window < bounds.Length; window++)
        {
            float bound = bounds[window];
            if (bound < 0 || (count == best.Length && bound <= bounds[best[count - 1]]))
                continue;
            int place = count < best.Length ? count++ : count - 1;
            for (; place > 0 && bounds[best[place - 1]] < bound; place--)
                best[place] = best[place - 1];
            best[place] = window;
        }

        return count;
    }

    /// <summary>All windows in order; returns how many hits there are.</summary>
    private long GoAlong(ReadOnlySpan<float> bounds)
    {
        long total = 0;
        for (long window = root.Next(0); window != Operator.End; window = root.Next(window + 1))
        {
            context.Check();
            root.Fill(window, set);
            total += set.Count;
            float bound = bounds[(int)window];
            if (bound >= 0 && bound >= sorter.WorstScore)
                Offer(window);
        }

        return total;
    }

    /// <summary>The windows that are left, from the most promising down; returns how many hits were seen.</summary>
    private long GoDown(ReadOnlySpan<float> bounds)
    {
        var order = new List<ulong>();
        for (int window = 0; window < bounds.Length; window++)
        {
            if (bounds[window] >= 0 && bounds[window] >= sorter.WorstScore)
                order.Add(KeyOf(bounds[window], window));
        }

        Span<ulong> keys = CollectionsMarshal.AsSpan(order);
        keys.Sort();
        long seen = 0;
        foreach (ulong key in keys)
        {
            if (BoundOf(key) < sorter.WorstScore)
                break;
            seen += Visit((int)(uint)key);
        }

        return seen;
    }

    /// <summary>Ascending keys are descending bounds, and of equal bounds ascending windows: bits of floats from 0 on order as these do.</summary>
    private static ulong KeyOf(float bound, int window) => ((ulong)~BitConverter.SingleToUInt32Bits(bound) << 32) | (uint)window;

    private static float BoundOf(ulong key) => BitConverter.UInt32BitsToSingle(~(uint)(key >> 32));

    private int Visit(long window)
    {
        context.Check();
        root.Fill(window, set);
        int count = set.Count;
        if (count > 0)
            Offer(window);
        return count;
    }

    /// <summary>Offers the best of the hits of a window, which stand in the set.</summary>
    private void Offer(long window)
    {
        WindowsScored++;
        if (sorter.WorstScore > 0)
            root.NarrowSet(window, set, sorter.WorstScore, Margin);
        if (set.Form is WindowSetForm.Empty or WindowSetForm.List)
        {
            Score(window, set.CopyTo(offsets));
            return;
        }

        Span<ulong> words = stackalloc ulong[Blocks];
        set.CopyWords(words);
        if (sorter.WorstScore > 0)
            root.Narrow(window, words, sorter.WorstScore, Margin);
        Span<ulong> best = stackalloc ulong[Blocks];
        while (BitmapKernels.Count(words) >= ManyHits)
        {
            TakeBest(window, words, best);
            Score(window, BitmapKernels.Decode(best, offsets));
            if (sorter.WorstScore > 0)
                root.Narrow(window, words, sorter.WorstScore, Margin);
        }

        Score(window, BitmapKernels.Decode(words, offsets));
    }

    /// <summary>Moves the hits of the blocks with the greatest bounds.</summary>
    private void TakeBest(long window, Span<ulong> words, Span<ulong> best)
    {
        Span<float> bounds = stackalloc float[Blocks], ordered = stackalloc float[Blocks];
        bounds.Clear();
        root.AddBounds(window, bounds, 1);
        for (int i = 0; i < Blocks; i++)
            ordered[i] = words[i] == 0 ? 0 : bounds[i];
        ordered.Sort();
        float least = ordered[^BestBlocks];
        for (int i = 0, taken = 0; i < Blocks; i++)
        {
            bool isBest = bounds[i] >= least && taken < BestBlocks && words[i] != 0;
            best[i] = isBest ? words[i] : 0;
            words[i] = isBest ? 0 : words[i];
            taken += isBest ? 1 : 0;
        }
    }

    /// <summary>Scores the hits that stand in <see cref="offsets"/> and offers them.</summary>
    private void Score(long window, int count)
    {
        if (count == 0)
            return;
        Span<float> sums = scores.AsSpan(0, count);
        sums.Clear();
        context.Meter.Count.CandidatesScored += count;
        root.ScoreMatches(window, offsets.AsSpan(0, count), sums, 1);
        long start = window << PostingWindow.SizeBits;
        float worst = sorter.WorstScore;
        long worstId = sorter.WorstId;
        for (int i = 0; i < count; i++)
        {
            // Of equal scores the smaller id is the better one, and it may come later.
            if (sums[i] < worst || (sums[i] == worst && start + offsets[i] > worstId))
                continue;
            sorter.Add(start + offsets[i], sums[i]);
            (worst, worstId) = (sorter.WorstScore, sorter.WorstId);
        }
    }
}
