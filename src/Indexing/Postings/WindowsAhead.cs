using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Kernels;

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
    private PostingCursor? _list;
    private PositionPlaces? _blocks;
    private PositionBatch? _positions;
    private long _listId;
    private bool _isDense;
    private bool _isWhole;
    private int _count;
    private int _next;
    private long _known;

    /// <summary>The windows located so far, ascending.</summary>
    public ReadOnlySpan<HeldWindow> Windows => _windows.AsSpan(0, _count);

    /// <summary>Starts on a list.</summary>
    /// <param name="list">The list.</param>
    /// <param name="listId">Its number.</param>
    /// <param name="blocks">The blocks of its positions.</param>
    /// <param name="positions">Reads the positions.</param>
    /// <param name="isDense">Whether few windows share a segment, so that locating several together is worthwhile.</param>
    public void Open(PostingCursor list, long listId, PositionPlaces blocks, PositionBatch positions, bool isDense)
    {
        (_list, _listId, _blocks, _positions, _isDense) = (list, listId, blocks, positions, isDense);
        ForgetPages();
    }

    /// <summary>Locates all windows, which is worthwhile if most of them are going to be evaluated.</summary>
    /// <param name="meter">Counts their bytes.</param>
    /// <param name="query">The query, whose cancellation and budget are checked at every segment.</param>
    public void ExpectAll(QueryMeter meter, IStoppable query)
    {
        if (_isWhole)
            return;
        ForgetPages();
        foreach (PostingSegment segment in _list!.Segments()) // Open sets it
        {
            query.Check();
            meter.Count.BytesDecoded += segment.Payloads.Length;
            int first = _count;
            _count += segment.Count;
            if (_count > _windows.Length)
                Array.Resize(ref _windows, (int)BitOperations.RoundUpToPowerOf2((uint)_count));
            segment.Hold(_windows.AsSpan(first, segment.Count));
        }

        _isWhole = true;
    }

    /// <summary>Adds a window, which must be after those added before.</summary>
    public void Add(in HeldWindow window)
    {
        if (_count == _windows.Length)
            Array.Resize(ref _windows, 2 * _count);
        Debug.Assert(_count == 0 || _windows[_count - 1].Window < window.Window, "1: windows ascend");
        _windows[_count++] = window;
    }

    /// <summary>
    /// Locates a window, which must be after those located before, and prefetches what a membership test of some entries
    /// reads. Does nothing if the list has no postings in the window.
    /// </summary>
    /// <param name="window">The window.</param>
    /// <param name="entries">The entries, ascending.</param>
    public void Expect(long window, ReadOnlySpan<ushort> entries)
    {
        if (_isWhole || window < _known)
        {
            if (TryFind(window))
                _windows[_next].Prefetch(entries);
            return;
        }

        if (!_list!.TryHold(window, out HeldWindow held)) // Open sets it
            return;
        Add(in held);
        held.Prefetch(entries);
    }

    /// <summary>
    /// Locates several ascending windows, which must be after those located before. Call before
    /// <see cref="Expect(long, ReadOnlySpan{ushort})"/> for each of them.
    /// </summary>
    public void Expect(ReadOnlySpan<long> wanted)
    {
        if (_isWhole || wanted.IsEmpty)
            return;
        Debug.Assert(_count == 0 || _windows[_count - 1].Window < wanted[0], "1: windows ascend");
        _known = wanted[^1] + 1;
        foreach (long window in _isDense ? default : wanted)
        {
            if (_list!.TryHold(window, out HeldWindow held))
                Add(in held);
        }

        for (; _isDense && !wanted.IsEmpty; wanted = wanted[Math.Min(MostTogether, wanted.Length)..])
            _list!.HoldEach(wanted[..Math.Min(MostTogether, wanted.Length)], this);
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
    public void Locate(long window, ReadOnlySpan<ushort> entries)
    {
        if (TryFind(window))
            _positions!.Locate(_blocks!, _listId, _windows[_next], entries); // Open sets both
        else if (_list!.TryHold(window, out HeldWindow held))
            _positions!.Locate(_blocks!, _listId, held, entries);
    }

    /// <summary>Like <see cref="PositionBatch.ReadMasks"/>.</summary>
    public void ReadMasks(Span<ulong> masks, Span<byte> isLong) => _positions!.ReadMasks(_blocks!, masks, isLong);

    /// <summary>Forgets the located windows.</summary>
    public void ForgetPages()
    {
        _count = _next = 0;
        _known = 0;
        _isWhole = false;
    }

    public void Dispose() => ForgetPages();

    public void Clear()
    {
        ForgetPages();
        (_list, _blocks, _positions) = (null, null, null);
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
