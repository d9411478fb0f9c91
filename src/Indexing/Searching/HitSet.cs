using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Searching;

/// <summary>
/// The hits of a query, found once: a bitmap for each non-empty window. Memory: 512 bytes for each of the first
/// <see cref="MaxKeptWindows"/> windows; the hits of later windows are computed again on each use.
/// </summary>
internal sealed class HitSet
{
    /// <summary>Maximum number of windows whose hits are kept: 2 MiB, 16 million entries.</summary>
    public const int MaxKeptWindows = 4_096;

    private readonly QueryContext _context;
    private readonly Operator _root;
    private readonly List<long> _windows = [];
    private ulong[] _kept;
    private int _last;

    private HitSet(QueryContext context, Operator root)
    {
        _context = context;
        _root = root;
        _kept = context.RentWords(64 * BitmapKernels.Words);
    }

    /// <summary>Total number of hits.</summary>
    public long Total { get; private set; }

    /// <summary>Windows that have hits, ascending.</summary>
    public IReadOnlyList<long> Windows => _windows;

    /// <summary>Whether the hits of every window are kept.</summary>
    public bool IsWhole => _windows.Count <= MaxKeptWindows;

    /// <summary>Finds all hits.</summary>
    public static HitSet Find(QueryContext context, Operator root)
    {
        var hits = new HitSet(context, root);
        WindowSet set = context.Rent();
        for (long window = root.Next(0); window != Operator.End; window = root.Next(window + 1))
        {
            context.Check();
            root.Fill(window, set);
            int count = set.Count;
            if (count == 0)
                continue;

            hits.Total += count;
            hits.Keep(window, set);
        }

        context.Return(set);
        return hits;
    }

    /// <summary>Copies the bitmap of the window at an index in <see cref="Windows"/>.</summary>
    public void Read(int place, Span<ulong> words)
    {
        Debug.Assert(
            (uint)place < (uint)_windows.Count && words.Length == BitmapKernels.Words, "the place is of a window with hits");
        if (place < MaxKeptWindows)
        {
            _kept.AsSpan(place * BitmapKernels.Words, BitmapKernels.Words).CopyTo(words);
            return;
        }

        _context.Check();
        WindowSet set = _context.Rent();
        _root.Fill(_windows[place], set);
        set.CopyWords(words);
        _context.Return(set);
    }

    /// <summary>As <see cref="Read"/>, without copying a kept bitmap; uses the scratch for others.</summary>
    public ReadOnlySpan<ulong> Words(int place, Span<ulong> scratch)
    {
        Debug.Assert((uint)place < (uint)_windows.Count, "the place is of a window with hits");
        if (place < MaxKeptWindows)
            return _kept.AsSpan(place * BitmapKernels.Words, BitmapKernels.Words);
        Read(place, scratch);
        return scratch;
    }

    /// <summary>Counts the hits of the window at an index that are in its postings.</summary>
    public int CountBoth(int place, in PostingWindow postings, Span<ulong> scratch)
    {
        ReadOnlySpan<ulong> mine = Words(place, scratch);
        return postings.Form switch
        {
            WindowSetForm.List => BitmapKernels.CountIn(mine, postings.Offsets),
            WindowSetForm.Bits => BitmapKernels.CountBoth(mine, postings.Bitmap),
            WindowSetForm.Full => BitmapKernels.Count(mine),
            _ => 0,
        };
    }

    /// <summary>Index of a window in <see cref="Windows"/>, or -1. Fast for windows close to the last one.</summary>
    public int PlaceOf(long window)
    {
        if (_last < _windows.Count && _windows[_last] == window)
            return _last;
        if (_last + 1 < _windows.Count && _windows[_last + 1] == window)
            return ++_last;

        int found = _windows.BinarySearch(window);
        _last = Math.Max(0, found);
        return found < 0 ? -1 : found;
    }

    public bool Contains(long id)
    {
        int place = PlaceOf(id >> PostingWindow.SizeBits);
        if (place < 0)
            return false;
        if (place >= MaxKeptWindows)
            return _root.Contains(id);

        int offset = (int)(id & (PostingWindow.Size - 1));
        return (_kept[(place * BitmapKernels.Words) + (offset >> 6)] >> (offset & 63) & 1) != 0;
    }

    private void Keep(long window, WindowSet set)
    {
        Debug.Assert(_windows.Count == 0 || _windows[^1] < window, "windows ascend");
        Debug.Assert(!set.IsEmpty, "a kept window has hits");
        _windows.Add(window);
        if (_windows.Count > MaxKeptWindows)
            return;
        if (_kept.Length < _windows.Count * BitmapKernels.Words)
        {
            ulong[] larger = _context.RentWords(_kept.Length * 2);
            _kept.CopyTo(larger, 0);
            _kept = larger;
        }

        set.CopyWords(_kept.AsSpan((_windows.Count - 1) * BitmapKernels.Words, BitmapKernels.Words));
    }
}
