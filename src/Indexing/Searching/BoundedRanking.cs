using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Sorting;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Finds the best hits of operators without scoring the others. The upper bound of every window is computed first. The few
/// windows with the greatest bounds are visited first, so that their hits give a score to beat. The other windows that may
/// still contain one of the best follow in order, since lists are read fastest that way; if hits are counted, the windows in
/// between are only counted. Within a window, only blocks of 64 entries that may still contain one of the best are read, and
/// in these only entries that match enough clauses.
/// </summary>
/// <remarks>Memory: 4 bytes per window.</remarks>
internal sealed class BoundedRanking(QueryContext context, Operator root, HitSorter sorter)
{
    private const int Blocks = PostingWindow.Blocks;

    /// <summary>Up to this many expected hits, all are scored, since their bounds would cost more.</summary>
    private const int FewHits = 512;

    /// <summary>
    /// With at least this many hits in a window, its best blocks are scored first, since their scores exclude most of the
    /// others.
    /// </summary>
    private const int ManyHits = 128;

    /// <summary>As <see cref="ManyHits"/>, for hits whose own bounds reach the threshold.</summary>
    private const int ManyPromising = 768;

    /// <summary>With at least this many candidates in a window, the upper bound of each is checked.</summary>
    private const int ManyByBlock = 24;

    /// <summary>Up to this many hits of a window are scored directly, without narrowing them further.</summary>
    private const int FewInWindow = 10;

    /// <summary>Number of blocks that are scored first.</summary>
    private const int BestBlocks = 3;

    /// <summary>Number of windows that are visited first.</summary>
    private const int BestWindows = 8;

    /// <summary>Stored in place of a bound once the window has been visited.</summary>
    private const float Done = -2;

    private readonly WindowSet _set = context.Rent();
    private readonly ushort[] _offsets = context.RentOffsets();
    private readonly float[] _scores = context.RentNumbers(PostingWindow.Size);
    private EntryBounds? _entryBounds;
    private long _possible;

    /// <summary>Number of windows in which hits were scored.</summary>
    public long WindowsScored { get; private set; }

    /// <summary>Number of windows that may have hits, but none among the best.</summary>
    public long WindowsBelowBound => _possible - WindowsScored;

    /// <summary>Whether the number returned by <see cref="Run"/> is exact.</summary>
    public bool IsTotalExact { get; private set; }

    /// <summary>The score a hit needs to be considered.</summary>
    private float Threshold => sorter.WorstScore;

    /// <summary>
    /// Offers the best hits to the sorter. Returns the number of hits, or of hits seen if they need not be counted.
    /// </summary>
    public long Run(bool countsHits)
    {
        IsTotalExact = countsHits || root.IsExact;
        long found;
        if (root.Expected.Likely <= FewHits)
        {
            found = ScoreAll();
            IsTotalExact = true;
        }
        else
        {
            int count = checked((int)context.View.WindowCount);
            found = RunByBounds(context.RentNumbers(count).AsSpan(0, count), countsHits && !root.IsExact);
        }

        context.Return(_set);
        return root.IsExact ? root.Estimate : found;
    }

    private long ScoreAll()
    {
        long found = 0;
        for (long window = root.Next(0); window != Operator.End; window = root.Next(window + 1))
        {
            context.Check();
            root.Fill(window, _set);
            int count = _set.CopyTo(_offsets);
            if (count == 0)
                continue;
            found += count;
            _possible++;
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
            _possible += bound < 0 ? 0 : 1;
            bound = bound < 0 ? bound : bound * Bm25.BoundMargin;
        }

        Span<int> best = stackalloc int[BestWindows];
        best = best[..BoundKernels.TakeBest(bounds, best)];
        long total = 0;
        foreach (int window in best)
        {
            if (bounds[window] < Threshold)
                break;
            total += Visit(window, counts);
            bounds[window] = Done;
        }

        for (int window = 0; window < bounds.Length; window++)
        {
            if (bounds[window] < 0)
                continue;
            if (bounds[window] >= Threshold)
                total += Visit(window, counts);
            else if (counts)
                total += Count(window);
        }

        return total;
    }

    private int Count(long window)
    {
        context.Check();
        return root.Count(window);
    }

    /// <summary>Visits a window; returns its number of hits, or of hits seen if they need not be counted.</summary>
    private int Visit(long window, bool counts)
    {
        context.Check();
        Span<float> bounds = stackalloc float[Blocks];
        bounds.Clear();
        root.AddBounds(window, bounds, 1);
        if (BoundKernels.Largest(bounds) * Bm25.BoundMargin < Threshold)
            return counts ? root.Count(window) : 0;

        WindowsScored++;
        int count = root.Select(window, _set, Threshold, counts);
        if (_set.Form == WindowSetForm.List && Threshold > 0)
            _set.Narrow(bounds, Threshold, Bm25.BoundMargin);
        if (_set.Form == WindowSetForm.List && _set.Count <= FewInWindow)
            Score(window, _set.CopyTo(_offsets));
        else if (_set.Form != WindowSetForm.Empty)
            Offer(window, bounds);
        return count;
    }

    /// <summary>Offers the best of a window's hits, which are in the set.</summary>
    private void Offer(long window, ReadOnlySpan<float> bounds)
    {
        Debug.Assert(_set.Form != WindowSetForm.Empty && bounds.Length == Blocks, "the window has entries to score");
        Span<ulong> words = stackalloc ulong[Blocks], best = stackalloc ulong[Blocks];
        _set.CopyWords(words);
        bool isByEntry = false;
        for (int count = Narrow(window, words, bounds, ref isByEntry);
             count > 0;
             count = Narrow(window, words, bounds, ref isByEntry))
        {
            if (count < (isByEntry ? ManyPromising : ManyHits))
            {
                Score(window, BitmapKernels.Decode(words, _offsets));
                return;
            }

            TakeBest(bounds, words, best);
            Score(window, BitmapKernels.Decode(best, _offsets));
        }
    }

    /// <summary>
    /// Removes hits that cannot be among the best: by block bounds, by the clauses a block requires, and if many are left,
    /// by bounds of single entries. Returns how many are left.
    /// </summary>
    private int Narrow(long window, Span<ulong> words, ReadOnlySpan<float> bounds, ref bool isByEntry)
    {
        Debug.Assert(Threshold > 0 || !isByEntry, "a threshold does not fall");
        if (Threshold <= 0)
            return BitmapKernels.Count(words);

        BoundKernels.Narrow(words, bounds, Threshold, Bm25.BoundMargin);
        root.Narrow(window, words, Threshold);
        int count = BitmapKernels.Count(words);
        if (count < ManyByBlock)
            return count;
        if (!isByEntry)
        {
            _entryBounds ??= new EntryBounds(context);
            _entryBounds.Begin(words);
            root.AddBounds(window, _entryBounds.Rest, 1, _entryBounds);
            isByEntry = true;
        }

        _entryBounds!.Narrow(window, words, Threshold, Bm25.BoundMargin); // set once isByEntry is true
        return BitmapKernels.Count(words);
    }

    /// <summary>Moves the hits of the blocks with the greatest bounds from one bitmap to the other.</summary>
    private static void TakeBest(ReadOnlySpan<float> bounds, Span<ulong> words, Span<ulong> best)
    {
        Debug.Assert(
            bounds.Length == Blocks && words.Length == Blocks && best.Length == Blocks, "each block has a bound and a word");
        Span<float> ordered = stackalloc float[Blocks];
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

    /// <summary>Scores the hits in <see cref="_offsets"/> and offers them.</summary>
    private void Score(long window, int count)
    {
        Debug.Assert(count >= 0 && count <= _offsets.Length, "the entries to score are in the buffer");
        if (count == 0)
            return;
        Span<float> sums = _scores.AsSpan(0, count);
        sums.Clear();
        context.Meter.Count.CandidatesScored += count;
        root.Score(window, _offsets.AsSpan(0, count), sums, 1, allMatch: true);
        long start = window << PostingWindow.SizeBits;
        for (int i = 0; i < count; i++)
            sorter.AddIfBetter(start + _offsets[i], sums[i]);
    }
}
