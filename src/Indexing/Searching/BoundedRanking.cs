using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Sorting;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Finds the best hits without scoring the others. A first walk over the windows notes the most that any hit of each can score; where hits are to be counted it
/// looks for them too, which never needs a score. The second one goes from the most promising window down and ends when the worst hit kept beats the next
/// window; within a window only blocks of 64 entries are looked at that can still hold one of the best, and in these only entries that match enough.
/// </summary>
/// <remarks>
/// Costs: 8 bytes a window, and for each of the first <see cref="HitSet.MaxKeptWindows"/> 256 for its bounds and, where hits are counted, 512 for these, which are
/// then not looked for twice.
/// </remarks>
internal sealed class BoundedRanking(QueryContext context, Operator root, HitSorter sorter)
{
    /// <summary>Sums of bounds and of scores are rounded differently; this is a thousand times as much.</summary>
    private const float Margin = 1 + 1e-4f;

    private const int Blocks = PostingWindow.Blocks;

    private readonly List<long> windows = [];
    private readonly List<ulong> order = [];
    private readonly float[] bounds = new float[Blocks];
    private readonly WindowSet set = context.Rent();
    private readonly ushort[] offsets = context.RentOffsets();
    private readonly float[] scores = context.RentNumbers(PostingWindow.Size);
    private float[] keptBounds = context.RentNumbers(64 * Blocks);
    private ulong[] keptHits = [];
    private bool hasHits;

    /// <summary>Windows that were scored.</summary>
    public long WindowsScored { get; private set; }

    /// <summary>Windows with hits, none of which could be among the best.</summary>
    public long WindowsBelowBound => windows.Count - WindowsScored;

    /// <summary>Whether the number of hits that <see cref="Run"/> returns is that of all.</summary>
    public bool IsTotalExact { get; private set; }

    /// <summary>Offers the best hits to the sorter; returns how many hits there are, or how many were seen where they need not be counted.</summary>
    public long Run(bool countsHits)
    {
        hasHits = countsHits && !root.IsExact;
        IsTotalExact = countsHits || root.IsExact;
        long total = root.IsExact ? root.Estimate : 0;
        total += Prepare();
        Span<ulong> keys = CollectionsMarshal.AsSpan(order);
        keys.Sort();
        Span<ulong> words = stackalloc ulong[Blocks];
        foreach (ulong key in keys)
        {
            int place = (int)(uint)key;
            if (BoundOf(key) < sorter.WorstScore)
                break;

            context.Check();
            WindowsScored++;
            long found = ScoreWindow(place, words);
            total += IsTotalExact ? 0 : found;
        }

        context.Return(set);
        return total;
    }

    /// <summary>Ascending keys are descending bounds, and of equal bounds ascending places: bits of floats from 0 on order as these do.</summary>
    private static ulong KeyOf(float bound, int place) => ((ulong)~BitConverter.SingleToUInt32Bits(bound) << 32) | (uint)place;

    private static float BoundOf(ulong key) => BitConverter.UInt32BitsToSingle(~(uint)(key >> 32));

    private long Prepare()
    {
        long total = 0;
        Span<ulong> words = stackalloc ulong[Blocks];
        for (long window = root.Next(0); window != Operator.End; window = root.Next(window + 1))
        {
            context.Check();
            if (hasHits)
            {
                root.Fill(window, set);
                int count = set.Count;
                if (count == 0)
                    continue;

                total += count;
                set.CopyWords(words);
            }

            Bounds(window, bounds);
            if (hasHits)
            {
                for (int i = 0; i < Blocks; i++)
                    bounds[i] = words[i] == 0 ? 0 : bounds[i];
            }

            int place = windows.Count;
            windows.Add(window);
            order.Add(KeyOf(BoundKernels.Largest(bounds), place));
            if (place < HitSet.MaxKeptWindows)
                Keep(place, words);
        }

        return total;
    }

    private void Keep(int place, ReadOnlySpan<ulong> words)
    {
        int end = (place + 1) * Blocks;
        if (keptBounds.Length < end)
        {
            float[] larger = context.RentNumbers(keptBounds.Length * 2);
            keptBounds.CopyTo(larger, 0);
            keptBounds = larger;
        }

        bounds.CopyTo(keptBounds.AsSpan(place * Blocks));
        if (!hasHits)
            return;
        if (keptHits.Length < end)
        {
            ulong[] larger = context.RentWords(Math.Max(64 * Blocks, keptHits.Length * 2));
            keptHits.CopyTo(larger, 0);
            keptHits = larger;
        }

        words.CopyTo(keptHits.AsSpan(place * Blocks));
    }

    /// <summary>The bounds by block, with room for how sums are rounded.</summary>
    private void Bounds(long window, Span<float> output)
    {
        output.Clear();
        root.AddBounds(window, output, 1);
        foreach (ref float bound in output)
            bound *= Margin;
    }

    /// <summary>The hits of a window in blocks that can hold one of the best.</summary>
    private void Hits(int place, Span<ulong> words)
    {
        ReadOnlySpan<float> mine = bounds;
        if (place < HitSet.MaxKeptWindows)
            mine = keptBounds.AsSpan(place * Blocks, Blocks);
        else
            Bounds(windows[place], bounds);

        bool isKept = hasHits && place < HitSet.MaxKeptWindows;
        bool isWhole = true;
        for (int i = 0; i < Blocks; i++)
        {
            words[i] = mine[i] < sorter.WorstScore ? 0 : isKept ? keptHits[(place * Blocks) + i] : ulong.MaxValue;
            isWhole &= words[i] != 0;
        }

        if (isKept)
            return;
        if (isWhole)
        {
            root.Fill(windows[place], set);
        }
        else
        {
            set.SetBits(MemoryMarshal.AsBytes(words));
            root.And(windows[place], set);
        }

        set.CopyWords(words);
    }

    /// <summary>Offers the best of a window; returns how many of its hits were looked at.</summary>
    private long ScoreWindow(int place, Span<ulong> words)
    {
        long window = windows[place];
        Hits(place, words);
        if (sorter.WorstScore > 0)
            root.Narrow(window, words, sorter.WorstScore, Margin);
        int count = BitmapKernels.Decode(words, offsets);
        if (count == 0)
            return 0;
        Span<float> sums = scores.AsSpan(0, count);
        sums.Clear();
        context.Meter.Count.CandidatesScored += count;
        root.Score(window, offsets.AsSpan(0, count), sums, 1);
        long start = window << PostingWindow.SizeBits;
        for (int i = 0; i < count; i++)
        {
            // Of equal scores the smaller id is the better one, and it may come later: only worse scores are left out.
            if (sums[i] >= sorter.WorstScore)
                sorter.Add(start + offsets[i], sums[i]);
        }

        return count;
    }
}
