using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Storage.Memory;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Read-ahead for some or all windows of a long list. Their postings, and the positions of some entries, are located once
/// and prefetched before the first is read, so that the cache misses overlap. Invariant: 1. Windows ascend.
/// </summary>
/// <remarks>Memory until the query ends: 48 bytes per window.</remarks>
internal sealed class WindowsAhead : IHoldsPages, IReusable
{
    /// <summary>Most windows located together.</summary>
    public const int MostTogether = 256;

    private const int FirstWindows = 64, MaxKeptWindows = 4_096;

    private HeldWindow[] _windows = new HeldWindow[FirstWindows];
    private PositionPlaces? _blocks;
    private PositionBatch? _positions;
    private long _listId;
    private int _count;
    private int _next;
    private long _known;

    /// <summary>Whether these are all windows of the list.</summary>
    public bool IsWhole { get; private set; }

    /// <summary>The windows, ascending.</summary>
    public ReadOnlySpan<HeldWindow> Windows => _windows.AsSpan(0, _count);

    /// <summary>Starts on a list.</summary>
    /// <param name="listId">The list.</param>
    /// <param name="blocks">The blocks of its positions.</param>
    /// <param name="positions">Reads the positions.</param>
    public void Open(long listId, PositionPlaces blocks, PositionBatch positions)
    {
        (_listId, _blocks, _positions) = (listId, blocks, positions);
        ForgetPages();
    }

    /// <summary>Adds all windows of a segment, which must be after those added before.</summary>
    public void Add(in PostingSegment segment)
    {
        int first = _count, of = segment.Count;
        _count += of;
        if (_count > _windows.Length)
            Array.Resize(ref _windows, (int)BitOperations.RoundUpToPowerOf2((uint)_count));
        Span<HeldWindow> mine = _windows.AsSpan(first, of);
        ReadOnlySpan<byte> payloads = segment.Payloads;
        ReadOnlySpan<uint> narrow = segment.NarrowEntries;
        int end = payloads.Length;
        for (int i = mine.Length - 1; i >= 0; i--)
        {
            // Backwards, because each payload ends where the next begins.
            (long window, int postings, int start) = segment.EntryAt(i, narrow);
            mine[i] = new HeldWindow(window, postings, end - start, new HeldBytes(payloads[start..]), segment.FirstWindow, of, i);
            end = start;
        }
    }

    /// <summary>Adds a window, which must be after those added before.</summary>
    public void Add(in HeldWindow window)
    {
        if (_count == _windows.Length)
            Array.Resize(ref _windows, 2 * _count);
        Debug.Assert(_count == 0 || _windows[_count - 1].Window < window.Window, "1: windows ascend");
        _windows[_count++] = window;
    }

    /// <summary>Records that all segments have been added.</summary>
    public void End() => IsWhole = true;

    /// <summary>
    /// Locates a window, which must be after those located before, and prefetches what a membership test of some entries
    /// reads. Does nothing if the list has no postings in the window.
    /// </summary>
    /// <param name="list">The list.</param>
    /// <param name="window">The window.</param>
    /// <param name="entries">The entries.</param>
    public void Expect(PostingCursor list, long window, ReadOnlySpan<ushort> entries)
    {
        if (IsWhole || window < _known)
        {
            if (TryFind(window))
                _windows[_next].Prefetch(entries);
            return;
        }

        if (!list.TryHold(window, out HeldWindow held))
            return;
        Add(in held);
        held.Prefetch(entries);
    }

    /// <summary>Locates several ascending windows, which must be after those located before.</summary>
    /// <param name="list">The list.</param>
    /// <param name="wanted">The windows.</param>
    /// <param name="isDense">Whether few windows share a segment, so that locating them together is worthwhile.</param>
    public void Expect(PostingCursor list, ReadOnlySpan<long> wanted, bool isDense)
    {
        if (IsWhole || wanted.IsEmpty)
            return;
        Debug.Assert(_count == 0 || _windows[_count - 1].Window < wanted[0], "1: windows ascend");
        _known = wanted[^1] + 1;
        foreach (long window in isDense ? default : wanted)
        {
            if (list.TryHold(window, out HeldWindow held))
                Add(in held);
        }

        for (; isDense && !wanted.IsEmpty; wanted = wanted[Math.Min(MostTogether, wanted.Length)..])
            list.HoldEach(wanted[..Math.Min(MostTogether, wanted.Length)], this);
    }

    /// <summary>Prefetches what locating the positions of a window reads, if the window was located.</summary>
    public void ExpectPositions(long window)
    {
        if (!TryFind(window))
            return;
        ref readonly HeldWindow mine = ref _windows[_next];
        PrefetchKernels.Prefetch(mine.Rest.Span[..mine.Bytes]);
        _blocks!.Prefetch(_listId, mine.Segment); // Open sets it
    }

    /// <summary>Gets the postings of a window, if the window was located.</summary>
    public bool TryGet(long window, out PostingWindow found)
    {
        bool isThere = TryFind(window);
        found = isThere ? _windows[_next].Postings : default;
        return isThere;
    }

    /// <summary>Gets the location of the postings of a window, if the window was located.</summary>
    public bool TryHold(long window, out HeldWindow held)
    {
        bool isThere = TryFind(window);
        held = isThere ? _windows[_next] : default;
        return isThere;
    }

    /// <summary>Like <see cref="PositionBatch.Locate"/>.</summary>
    public void Locate(PostingCursor list, long window, ReadOnlySpan<ushort> entries)
    {
        if (TryFind(window))
            _positions!.Locate(_blocks!, _listId, _windows[_next], entries); // Open sets both
        else if (list.TryHold(window, out HeldWindow held))
            _positions!.Locate(_blocks!, _listId, held, entries);
    }

    /// <summary>Like <see cref="PositionBatch.ReadMasks"/>.</summary>
    public void ReadMasks(Span<ulong> masks, Span<byte> isLong) => _positions!.ReadMasks(_blocks!, masks, isLong);

    public void ForgetPages()
    {
        _count = _next = 0;
        _known = 0;
        IsWhole = false;
    }

    public void Dispose() => ForgetPages();

    public void Clear()
    {
        ForgetPages();
        (_blocks, _positions) = (null, null);
        if (_windows.Length > MaxKeptWindows)
            _windows = new HeldWindow[FirstWindows];
    }

    /// <summary>Moves to a window, usually the current one or the next.</summary>
    private bool TryFind(long window)
    {
        if (_count == 0 || window < _windows[0].Window || window > _windows[_count - 1].Window)
            return false;
        Debug.Assert((uint)_next < (uint)_count, "the current window is one of those located");
        while (_windows[_next].Window > window)
            _next--;
        while (_windows[_next].Window < window)
            _next++;
        return _windows[_next].Window == window;
    }
}
