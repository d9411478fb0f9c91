using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Sorting;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Finds the best hits without scoring the others. A first walk over the windows notes the most that any hit of each can score; where hits are to be counted it
/// looks for them too, which never needs a score. Windows with a few hits are scored at once, which costs less than their bounds. The second walk goes from the most promising
/// window down and ends when the worst hit kept beats the next window; within a window only blocks of 64 entries are looked at that can still hold one of the best, and in these
/// only entries that match enough.
/// </summary>
/// <remarks>
/// Costs: 16 bytes a window, and for each of the first <see cref="HitSet.MaxKeptWindows"/>, where hits are counted, 512 for these, which are then not looked for twice.
/// </remarks>
internal sealed class BoundedRanking(QueryContext context, Operator root, HitSorter sorter)
{
    /// <summary>Sums of bounds and of scores are rounded differently; this is a thousand times as much.</summary>
    private const float Margin = 1 + 1e-4f;

    private const int Blocks = PostingWindow.Blocks;

    /// <summary>So many hits of a window are scored as soon as they are found.</summary>
    private const int FewHits = 4;

    /// <summary>From so many hits on a window's best blocks are scored first: what they give leaves most of the others out.</summary>
    private const int ManyHits = 256;

    /// <summary>How many blocks these are.</summary>
    private const int BestBlocks = 6;

    private readonly List<long> windows = [];
    private readonly List<ulong> order = [];
    private readonly WindowSet set = context.Rent();
    private readonly ushort[] offsets = context.RentOffsets();
    private readonly float[] scores = context.RentNumbers(PostingWindow.Size);
    private ulong[] keptHits = [];
    private bool hasHits;
    private long visited;

    /// <summary>Windows that were scored.</summary>
    public long WindowsScored { get; private set; }

    /// <summary>Windows with hits, none of which could be among the best.</summary>
    public long WindowsBelowBound => windows.Count - visited;

    /// <summary>Whether the number of hits that <see cref="Run"/> returns is that of all.</summary>
    public bool IsTotalExact { get; private set; }

    /// <summary>Offers the best hits to the sorter; returns how many hits there are, or how many were seen where they need not be counted.</summary>
    public long Run(bool countsHits)
    {
        hasHits = countsHits && !root.IsExact;
        IsTotalExact = countsHits || root.IsExact;
        long found = Prepare();
        Span<ulong> keys = CollectionsMarshal.AsSpan(order);
        keys.Sort();
        Span<ulong> words = stackalloc ulong[Blocks];
        foreach (ulong key in keys)
        {
            if (BoundOf(key) < sorter.WorstScore)
                break;

            context.Check();
            visited++;
            WindowsScored++;
            long seen = ScoreWindow((int)(uint)key, words);
            found += hasHits ? 0 : seen;
        }

        context.Return(set);
        return root.IsExact ? root.Estimate : found;
    }

    /// <summary>Ascending keys are descending bounds, and of equal bounds ascending places: bits of floats from 0 on order as these do.</summary>
    private static ulong KeyOf(float bound, int place) => ((ulong)~BitConverter.SingleToUInt32Bits(bound) << 32) | (uint)place;

    private static float BoundOf(ulong key) => BitConverter.UInt32BitsToSingle(~(uint)(key >> 32));

    /// <summary>Notes windows and their bounds, and scores those with few hits; returns how many hits were seen.</summary>
    private long Prepare()
    {
        long total = 0;
        for (long window = root.Next(0); window != Operator.End; window = root.Next(window + 1))
        {
            context.Check();
            if (hasHits || root.MostIn(window) <= FewHits)
            {
                root.Fill(window, set);
                int count = set.Count;
                total += count;
                if (count <= FewHits)
                {
                    if (count == 0)
                        continue;
                    WindowsScored++;
                    Score(window, set.CopyTo(offsets));
                    continue;
                }
            }

            // Hits that are counted are kept even of a window that is out already: the next one may be the one to look at.
            float bound = root.Bound(window, 1) * Margin;
            if (hasHits && windows.Count < HitSet.MaxKeptWindows)
                KeepHits(windows.Count);
            order.Add(KeyOf(bound, windows.Count));
            windows.Add(window);
        }

        return total;
    }

    private void KeepHits(int place)
    {
        int end = (place + 1) * Blocks;
        if (keptHits.Length < end)
        {
            ulong[] larger = context.RentWords(Math.Max(64 * Blocks, keptHits.Length * 2));
            keptHits.CopyTo(larger, 0);
            keptHits = larger;
        }

        set.CopyWords(keptHits.AsSpan(place * Blocks, Blocks));
    }

    /// <summary>The hits of a window, but for blocks and entries that cannot be among the best.</summary>
    private void Hits(int place, Span<ulong> words)
    {
        long window = windows[place];
        bool isKept = hasHits && place < HitSet.MaxKeptWindows;
        if (isKept)
            keptHits.AsSpan(place * Blocks, Blocks).CopyTo(words);
        else
            words.Fill(ulong.MaxValue);
        if (sorter.WorstScore > 0)
            root.Narrow(window, words, sorter.WorstScore, Margin);
        if (isKept)
            return;

        if (words.ContainsAnyExcept(ulong.MaxValue))
        {
            set.SetBits(MemoryMarshal.AsBytes(words));
            root.And(window, set);
        }
        else
        {
            root.Fill(window, set);
        }

        set.CopyWords(words);
    }

    /// <summary>Offers the best of a window; returns how many of its hits were looked at.</summary>
    private int ScoreWindow(int place, Span<ulong> words)
    {
        Hits(place, words);
        long window = windows[place];
        int count = BitmapKernels.Count(words);
        if (count >= ManyHits)
        {
            Span<ulong> best = stackalloc ulong[Blocks];
            TakeBest(window, words, best);
            Score(window, BitmapKernels.Decode(best, offsets));
            if (sorter.WorstScore > 0)
                root.Narrow(window, words, sorter.WorstScore, Margin);
        }

        Score(window, BitmapKernels.Decode(words, offsets));
        return count;
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
