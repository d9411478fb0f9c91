using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using Treepie.Indexing.Kernels;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Enumerates the windows of one long list. Ascending windows are cheap (a segment has many, and the next one is a single
/// step away); any other order is correct too. Use one object per term and query; it holds one storage cursor. Invariants:
/// 1. On a segment, firstWindow ≤ current ≤ lastWindow if the current window is known.
/// 2. A payload belongs to the current window.
/// </summary>
internal sealed class PostingCursor(Tree postings, long listId, QueryMeter? meter = null) : IHoldsPages
{
    /// <summary>The number that means no window.</summary>
    public const long End = long.MaxValue;

    /// <summary>
    /// Bytes of the next segment of a dense list to prefetch while a window is processed: up to its impacts or frequencies.
    /// </summary>
    private const int AheadBytes = PostingSegment.HeaderBytes + PostingSegment.DirectoryEntryBytes + BitmapKernels.Bytes
        + PostingWindow.Blocks;

    private readonly Cursor _cursor = postings.OpenCursor();
    private bool _isOnSegment;
    private long _firstWindow;
    private long _lastWindow = -1;
    private long _current = -1;
    private long _noneFrom = End;
    private int _index;
    private HeldBytes _segment;
    private HeldBytes _payload;
    private int _payloadCount;
    private long _payloadWindow = -1;

    /// <summary>Number of windows of the current segment.</summary>
    public int SegmentWindows { get; private set; }

    /// <summary>Switches to another list of the same tree, as if the cursor had just been opened.</summary>
    public void Reset(long list)
    {
        _cursor.Reset();
        listId = list;
        (_lastWindow, _noneFrom) = (-1, End);
        Leave();
    }

    /// <summary>Returns the first window from <paramref name="from"/> on that has postings, or <see cref="End"/>.</summary>
    public long Next(long from)
    {
        Debug.Assert(from >= 0, "windows are numbered from 0");
        if (_isOnSegment && from == _current)
            return _current;
        if (from >= _noneFrom)
            return End; // known already: a scan over several lists continues past the end of this one

        if (!_isOnSegment || from < _firstWindow)
        {
            if (!SeekFloor(from))
                return EndFrom(from);
        }
        else if (from > _lastWindow)
        {
            // Try the next segment first: ascending scans almost always find the window there. In a dense list it is the next
            // window.
            bool isNear = SegmentWindows > 1 || from == _lastWindow + 1;
            if ((isNear && !Step()) || (from > _lastWindow && !SeekFloor(from)))
                return EndFrom(from);
        }

        while (from > _lastWindow)
        {
            if (!Step())
                return EndFrom(from);
        }

        if (SegmentWindows == 1)
            return _current = _firstWindow; // a dense list has one window per segment
        var windows = new PostingSegment(_segment.Span);
        _index = windows.LowerBound(from, from > _current && _current >= 0 ? _index : 0);
        _current = windows.WindowAt(_index);
        Debug.Assert(_current >= from && _current >= _firstWindow && _current <= _lastWindow, "1: the window is of the segment");
        return _current;
    }

    /// <summary>The postings of a window; false if it has none. Valid until another window is requested.</summary>
    public bool TryGet(long window, out PostingWindow found)
    {
        if (Next(window) != window)
        {
            found = default;
            return false;
        }

        if (_payloadWindow != window)
            Look(window);
        found = new PostingWindow(_payloadCount, _payload.Span);
        return true;
    }

    /// <summary>
    /// Like <see cref="TryGet"/>, for callers that use several windows at once: the result is valid as long as the
    /// transaction keeps its pages.
    /// </summary>
    public bool TryHold(long window, out HeldWindow held)
    {
        bool isThere = TryGet(window, out _);
        held = isThere
            ? new HeldWindow(window, _payloadCount, _payload.Span.Length, _payload, _firstWindow, SegmentWindows, _index)
            : default;
        return isThere;
    }

    /// <summary>
    /// Enumerates all segments of the list in order, which is the cheapest full scan. Only one enumeration may run at a
    /// time, and it leaves the cursor on no window.
    /// </summary>
    public PostingSegments Segments() => new(this);

    /// <summary>The segments of the first leaf of the list; false if there is none.</summary>
    internal bool TryTakeFirst(out LeafEntries segments)
    {
        Span<byte> list = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(list, listId);
        Leave();
        bool isThere = _cursor.Seek(list) && _cursor.IsAt(list, out _);
        segments = isThere ? _cursor.TakeEntries(list) : default;
        return isThere;
    }

    /// <summary>The segments of the next leaf; false after the last.</summary>
    internal bool TryTakeNext(out LeafEntries segments)
    {
        Span<byte> list = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(list, listId);
        bool isThere = _cursor.MoveNext(list, out _);
        segments = isThere ? _cursor.TakeEntries(list) : default;
        return isThere;
    }

    /// <summary>Counts a segment that was read.</summary>
    internal void Count()
    {
        if (meter is not null)
            meter.Count.BlocksDecoded++;
    }

    /// <summary>
    /// Finds several ascending windows together, so that their cache misses overlap; those with postings are added to
    /// <paramref name="held"/>.
    /// </summary>
    [SkipLocalsInit]
    public void HoldEach(ReadOnlySpan<long> wanted, WindowsAhead held)
    {
        Debug.Assert(wanted.Length <= WindowsAhead.MostTogether, "the page references fit on the stack");
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        var seeks = new FloorSeeks(postings, stackalloc PageReference[WindowsAhead.MostTogether]);
        foreach (long window in wanted)
        {
            PostingKey.Write(key, listId, window);
            seeks.Add(key);
        }

        seeks.PrefetchEntries();
        for (int i = 0; i < wanted.Length; i++)
        {
            PostingKey.Write(key, listId, wanted[i]);
            HeldWindow found;
            if (seeks.TryGet(i, key, sizeof(long), out ReadOnlySpan<byte> value)
                ? TryHold(value, wanted[i], out found)
                : TryHold(wanted[i], out found))
                held.Add(in found);
        }
    }

    /// <summary>
    /// Finds a window in the last segment that starts at or before it. An empty span means that there is no such segment.
    /// </summary>
    private bool TryHold(ReadOnlySpan<byte> segment, long window, out HeldWindow held)
    {
        held = default;
        if (segment.IsEmpty)
            return false;
        var windows = new PostingSegment(segment);
        int place = windows.LowerBound(window);
        if (place == windows.Count || windows.WindowAt(place) != window)
            return false;
        ReadOnlySpan<byte> payloads = windows.Payloads;
        int start = windows.StartAt(place), end = place + 1 < windows.Count ? windows.StartAt(place + 1) : payloads.Length;
        held = new HeldWindow(
            window, windows.CountAt(place), end - start, new HeldBytes(payloads[start..]), windows.FirstWindow, windows.Count,
            place);
        if (meter is not null)
        {
            meter.Count.BlocksDecoded++;
            meter.Count.BytesDecoded += end - start;
        }

        return true;
    }

    /// <summary>
    /// Writes the largest impact of every window, indexed by window; windows without postings are not written.
    /// </summary>
    public void CopyImpacts(Span<byte> impacts)
    {
        foreach (PostingSegment segment in Segments())
        {
            for (int i = 0; i < segment.Count; i++)
                impacts[(int)segment.WindowAt(i)] = segment.PostingsAt(i).LargestImpact;
        }
    }

    /// <summary>Drops the position because the pages may be released; the next request seeks again.</summary>
    public void ForgetPages() => Leave();

    public void Dispose() => _cursor.Dispose();

    /// <summary>Caches the postings of the current window.</summary>
    private void Look(long window)
    {
        Debug.Assert(_isOnSegment && window == _current, "2: a payload belongs to the current window");
        var windows = new PostingSegment(_segment.Span);
        _payloadCount = windows.CountAt(_index);
        _payload = new HeldBytes(windows.PayloadAt(_index));
        _payloadWindow = window;
        if (meter is not null)
        {
            meter.Count.BlocksDecoded++;
            meter.Count.BytesDecoded += _payload.Span.Length;
        }
    }

    /// <summary>
    /// Moves to the last segment that starts at or before the window, or to the first of the list if there is none.
    /// </summary>
    private bool SeekFloor(long window)
    {
        Span<byte> key = stackalloc byte[PostingKey.Bytes];
        PostingKey.Write(key, listId, window + 1);
        if (_cursor.SeekBefore(key) && _cursor.IsAt(key[..sizeof(long)], out ReadOnlySpan<byte> value))
            return Enter(value);

        PostingKey.Write(key, listId, window);
        return _cursor.Seek(key) && _cursor.IsAt(key[..sizeof(long)], out value) ? Enter(value) : Leave();
    }

    private bool Step()
    {
        Span<byte> list = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(list, listId);
        if (!_cursor.MoveNext(list, out ReadOnlySpan<byte> value))
            return Leave();
        Enter(value);
        if (SegmentWindows == 1)
            _cursor.PrefetchNext(AheadBytes);
        return true;
    }

    private bool Enter(ReadOnlySpan<byte> value)
    {
        _segment = new HeldBytes(value);
        var windows = new PostingSegment(value);
        _firstWindow = windows.FirstWindow;
        SegmentWindows = windows.Count;
        _lastWindow = SegmentWindows == 1 ? _firstWindow : windows.LastWindow;
        _current = -1;
        _index = 0;
        _isOnSegment = true;
        return true;
    }

    private long EndFrom(long from)
    {
        Debug.Assert(from < _noneFrom, "nothing is sought past the known end");
        _noneFrom = from;
        return End;
    }

    private bool Leave()
    {
        _isOnSegment = false;
        _current = -1;
        _payloadWindow = -1;
        return false;
    }
}
