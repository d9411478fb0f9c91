using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Sorting;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Finds the best hits without scoring the others. A first walk over the windows counts the hits, which never needs a score, and notes the most that any
/// hit of the window can score. The second one goes from the most promising window down and ends when the worst hit kept beats the next window; within a
/// window only blocks of 64 entries are scored that can still hold one of the best, and in these only entries that match enough.
/// </summary>
/// <remarks>
/// Costs: 16 bytes a window, and 512 for the hits of each of the first <see cref="HitSet.MaxKeptWindows"/>, which are then not looked for twice.
/// </remarks>
internal sealed class BoundedRanking(QueryContext context, Operator root, HitSorter sorter)
{
    /// <summary>Sums of bounds and of scores are rounded differently; this is a thousand times as much.</summary>
    private const float Margin = 1 + 1e-4f;

    private readonly List<(float Bound, long Window, int Place)> windows = [];
    private readonly ushort[] offsets = new ushort[PostingWindow.Size];
    private readonly float[] scores = new float[PostingWindow.Size];
    private readonly float[] bounds = new float[PostingWindow.Blocks];
    private ulong[] kept = new ulong[16 * PostingWindow.Blocks];

    /// <summary>Windows that were scored.</summary>
    public long WindowsScored { get; private set; }

    /// <summary>Windows with hits, none of which could be among the best.</summary>
    public long WindowsBelowBound => windows.Count - WindowsScored;

    /// <summary>Offers the best hits to the sorter; returns how many hits there are in all.</summary>
    public long Run()
    {
        long total = Count();
        windows.Sort(static (x, y) => x.Bound != y.Bound ? y.Bound.CompareTo(x.Bound) : x.Window.CompareTo(y.Window));
        Span<ulong> words = stackalloc ulong[PostingWindow.Blocks];
        foreach ((float bound, long window, int place) in windows)
        {
            if (bound < sorter.WorstScore)
                break;

            context.Check();
            WindowsScored++;
            Hits(window, place, words);
            ScoreWindow(window, words);
        }

        return total;
    }

    private long Count()
    {
        long total = 0;
        WindowSet set = context.Rent();
        Span<ulong> words = stackalloc ulong[PostingWindow.Blocks];
        for (long window = root.Next(0); window != Operator.End; window = root.Next(window + 1))
        {
            context.Check();
            root.Fill(window, set);
            int count = set.Count;
            if (count == 0)
                continue;

            total += count;
            set.CopyWords(words);
            Bounds(window);
            float largest = 0;
            for (int i = 0; i < words.Length; i++)
            {
                if (words[i] != 0)
                    largest = Math.Max(largest, bounds[i]);
            }

            windows.Add((largest, window, windows.Count));
            Keep(windows.Count - 1, words);
        }

        context.Return(set);
        return total;
    }

    private void Keep(int place, ReadOnlySpan<ulong> words)
    {
        if (place >= HitSet.MaxKeptWindows)
            return;
        if (kept.Length < (place + 1) * words.Length)
            Array.Resize(ref kept, kept.Length * 2);
        words.CopyTo(kept.AsSpan(place * words.Length));
    }

    private void Hits(long window, int place, Span<ulong> words)
    {
        if (place < HitSet.MaxKeptWindows)
        {
            kept.AsSpan(place * words.Length, words.Length).CopyTo(words);
            return;
        }

        WindowSet set = context.Rent();
        root.Fill(window, set);
        set.CopyWords(words);
        context.Return(set);
    }

    private void Bounds(long window)
    {
        Array.Clear(bounds);
        root.AddBounds(window, bounds, 1);
        foreach (ref float bound in bounds.AsSpan())
            bound *= Margin;
    }

    private void ScoreWindow(long window, Span<ulong> words)
    {
        Bounds(window);
        for (int i = 0; i < words.Length; i++)
        {
            if (bounds[i] < sorter.WorstScore)
                words[i] = 0;
        }

        if (sorter.WorstScore > 0)
            root.Narrow(window, words, sorter.WorstScore, Margin);
        int count = Kernels.BitmapKernels.Decode(words, offsets);
        if (count == 0)
            return;
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
    }
}
