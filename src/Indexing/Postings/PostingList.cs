using System.Diagnostics;
using System.Numerics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Storage.Memory;

namespace Treepie.Indexing.Postings;

/// <summary>
/// A uniform view of the postings of a term, for short and long lists: a directory of the windows that have entries, and
/// their payloads, read in place. It is scanned by segment, which is cheapest, or by window after <see cref="Unroll"/> has
/// built one directory of all windows. A short list is encoded into payloads of the same form. Invariants:
/// 1. Windows ascend, across segments too.
/// 2. 0 ≤ At ≤ Here; the list is on a window while At &lt; Here.
/// 3. An unrolled list has one place per window and a sentinel with window <see cref="End"/> after the last.
/// </summary>
/// <remarks>Memory: 40 bytes per segment, 48 per window once unrolled, and 4 KiB once it has held a short list.</remarks>
internal sealed class PostingList : IReusable
{
    /// <summary>The number that means no window.</summary>
    public const long End = PostingCursor.End;

    private const int FirstSegments = 16, FirstPlaces = 64, MaxKeptSegments = 1_024, MaxKeptPlaces = 4_096;

    /// <summary>Readable bytes after the payloads of a short list.</summary>
    private const int PaddingBytes = 64;

    /// <summary>
    /// Longest payloads of a short list: two bitmaps with impacts and frequencies, which take more than any LIST payloads.
    /// </summary>
    private const int MostPayloadBytes = 3_072;

    private Segment[] _segments = new Segment[FirstSegments];
    private int _segmentCount;
    private int _next;
    private HeldWindow[] _places = new HeldWindow[FirstPlaces];
    private int _placeCount;

    // Payloads of a short list. Pinned, so that parts of them can be held like parts of pages.
    private uint[] _shortDirectory = [];
    private byte[] _shortPayloads = [];

    // The current segment.
    private HeldBytes _whole, _directory, _payloads;
    private int _payloadBytes;
    private bool _isNarrow;

    /// <summary>Whether the list is short; its impacts are then unknown.</summary>
    public bool IsShort { get; private set; }

    /// <summary>Number of windows that have entries.</summary>
    public int Windows { get; private set; }

    /// <summary>Whether windows can be accessed by place.</summary>
    public bool IsUnrolled => _placeCount > 0;

    /// <summary>First window of the current segment.</summary>
    public long FirstWindow { get; private set; }

    /// <summary>Number of windows of the current segment.</summary>
    public int Here { get; private set; }

    /// <summary>Index of the current window in its segment.</summary>
    public int At { get; set; }

    /// <summary>Whether the list is on a window.</summary>
    public bool IsOnWindow => At < Here;

    /// <summary>The current window.</summary>
    public long Window => _isNarrow ? FirstWindow + PostingSegment.WindowOf(Directory[At]) : Whole.WindowAt(At);

    /// <summary>Number of entries of the current window.</summary>
    public int Count => _isNarrow ? PostingSegment.CountOf(Directory[At]) : Whole.CountAt(At);

    /// <summary>
    /// The ascending offsets of the current window, followed by readable bytes without meaning; empty if the window is not a
    /// LIST.
    /// </summary>
    public ReadOnlySpan<ushort> Offsets =>
        Count < PostingWindow.MinBitsCount ? MemoryMarshal.Cast<byte, ushort>(_payloads.Span[Start..]) : default;

    /// <summary>The location of the current window, which remains valid when the list moves on.</summary>
    public HeldWindow Held
    {
        get
        {
            Debug.Assert(IsOnWindow, "2: the list is on a window");
            int start = Start, behind = At + 1;
            int end = behind == Here
                ? _payloadBytes
                : _isNarrow ? PostingSegment.StartOf(Directory[behind]) : Whole.StartAt(behind);
            return new HeldWindow(Window, Count, end - start, new HeldBytes(_payloads.Span[start..]), FirstWindow, Here, At);
        }
    }

    private PostingSegment Whole => new(_whole.Span);

    private ReadOnlySpan<uint> Directory => MemoryMarshal.Cast<byte, uint>(_directory.Span);

    private int Start => _isNarrow ? PostingSegment.StartOf(Directory[At]) : Whole.StartAt(At);

    /// <inheritdoc/>
    public void Clear()
    {
        if (_segments.Length > MaxKeptSegments)
            _segments = new Segment[FirstSegments];
        if (_places.Length > MaxKeptPlaces)
            _places = new HeldWindow[FirstPlaces];
        (_segmentCount, _next, _placeCount, IsShort, Windows, Here, At) = (0, 0, 0, false, 0, 0, 0);
    }

    /// <summary>Opens a long list with all its segments.</summary>
    /// <param name="list">The list.</param>
    /// <param name="meter">Counts their bytes.</param>
    /// <param name="query">The query, whose cancellation and budget are checked at every segment.</param>
    public void Open(PostingCursor list, QueryMeter meter, IStoppable query)
    {
        Debug.Assert(_segmentCount == 0 && !IsShort, "a list is opened once");
        foreach (PostingSegment segment in list.Segments())
        {
            query.Check();
            meter.Count.BytesDecoded += segment.Payloads.Length;
            NextSegment() = new Segment { Whole = new HeldBytes(segment.Bytes), Windows = segment.Count };
            Windows += segment.Count;
        }
    }

    /// <summary>Opens a short list with all its entries.</summary>
    public void Open(ReadOnlySpan<Posting> all)
    {
        Debug.Assert(_segmentCount == 0 && Windows == 0, "a list is opened once");
        Debug.Assert(all.Length <= FlatPostings.MaxEntries, "a short list is short");
        if (_shortPayloads.Length == 0)
        {
            _shortDirectory = GC.AllocateUninitializedArray<uint>(FlatPostings.MaxEntries, pinned: true);
            _shortPayloads = GC.AllocateUninitializedArray<byte>(MostPayloadBytes + PaddingBytes, pinned: true);
        }

        IsShort = true;
        int place = 0, begin = 0;
        long first = 0;
        for (int i = 0; i < all.Length;)
        {
            long window = all[i].Window;
            if (_segmentCount == 0 || window - first > byte.MaxValue)
                NextSegment() = new Segment { First = first = window, Start = begin = place, FirstWindow = Windows };

            int of = Encode(all[i..], window, _shortPayloads.AsSpan(place, MostPayloadBytes - place), out int bytes);
            _shortDirectory[Windows++] = (uint)(window - first) | ((uint)(of - 1) << 8) | ((uint)(place - begin) << 16);
            place += bytes;
            Debug.Assert(
                place <= MostPayloadBytes && Windows <= FlatPostings.MaxEntries, "the payloads of a short list fit their buffer");
            i += of;
            ref Segment last = ref _segments[_segmentCount - 1];
            (last.Windows, last.End) = (last.Windows + 1, place);
        }
    }

    /// <summary>Moves before the first segment.</summary>
    public void Rewind() => (_next, Here, At) = (0, 0, 0);

    /// <summary>Moves to the first window of the next segment; false after the last.</summary>
    public bool MoveNextSegment()
    {
        Debug.Assert(_next <= _segmentCount, "the next segment is one of the list, or none");
        At = 0;
        if (_next == _segmentCount)
        {
            Here = 0;
            return false;
        }

        ref Segment segment = ref _segments[_next++];
        Here = segment.Windows;
        if (IsShort)
        {
            _isNarrow = true;
            FirstWindow = segment.First;
            _directory = new HeldBytes(MemoryMarshal.AsBytes(_shortDirectory.AsSpan(segment.FirstWindow, Here)));
            _payloads = new HeldBytes(_shortPayloads.AsSpan(segment.Start));
            _payloadBytes = segment.End - segment.Start;
            return true;
        }

        _whole = segment.Whole;
        if (_next < _segmentCount)
            PrefetchKernels.Prefetch(_segments[_next].Whole.Span);
        var found = new PostingSegment(_whole.Span);
        FirstWindow = found.FirstWindow;
        ReadOnlySpan<uint> narrow = found.NarrowEntries;
        _isNarrow = !narrow.IsEmpty;
        _directory = new HeldBytes(MemoryMarshal.AsBytes(narrow));
        _payloads = new HeldBytes(found.Payloads);
        _payloadBytes = found.Payloads.Length;
        return true;
    }

    /// <summary>Moves forward to the first window that is not before <paramref name="window"/>; false if there is none.</summary>
    public bool MoveTo(long window)
    {
        Debug.Assert(At >= 0 && At <= Here, "2: the list is on a window or after its segment");
        while (true)
        {
            while (At < Here && Window < window)
                At++;
            if (At < Here)
                return true;
            if (!MoveNextSegment())
                return false;
        }
    }

    /// <summary>
    /// Moves two lists, each of which is on a window or past its segment, forward to the first window that both have and in
    /// which they may have an entry in common; false if one of them reaches the end of its segment.
    /// </summary>
    public static bool Meet(PostingList one, PostingList other)
    {
        Debug.Assert(
            one.At >= 0 && one.At <= one.Here && other.At >= 0 && other.At <= other.Here,
            "2: both lists are on a window or after their segment");
        long apart = other.FirstWindow - one.FirstWindow;
        if (one._isNarrow && other._isNarrow && Math.Abs(apart) <= byte.MaxValue)
        {
            int oneAt = one.At, otherAt = other.At;
            var mine = new WindowRun(one.Directory, one._payloads.Span);
            var others = new WindowRun(other.Directory, other._payloads.Span);
            bool found = MeetKernels.Next(in mine, ref oneAt, in others, ref otherAt, (int)apart);
            (one.At, other.At) = (oneAt, otherAt);
            Debug.Assert(one.At <= one.Here && other.At <= other.Here, "2: no list leaves its segment");
            return found;
        }

        while (one.IsOnWindow && other.IsOnWindow)
        {
            long window = one.Window, otherWindow = other.Window;
            if (window == otherWindow)
                return true;
            one.At += window < otherWindow ? 1 : 0;
            other.At += window > otherWindow ? 1 : 0;
        }

        return false;
    }

    /// <summary>Builds one directory of all segments, so that windows can be accessed by place.</summary>
    public void Unroll()
    {
        if (IsUnrolled)
            return;
        if (Windows >= _places.Length)
            _places = new HeldWindow[BitOperations.RoundUpToPowerOf2((uint)Windows + 1)];
        _placeCount = Windows + 1;
        for (int i = 0, first = 0; i < _segmentCount; first += _segments[i++].Windows)
        {
            ref readonly Segment segment = ref _segments[i];
            if (IsShort)
                UnrollShort(in segment, _places.AsSpan(first, segment.Windows));
            else
                new PostingSegment(segment.Whole.Span).Hold(_places.AsSpan(first, segment.Windows));
        }

        Debug.Assert(_placeCount <= _places.Length, "3: a list has a place per window and a sentinel");
        _places[Windows] = new HeldWindow(End, 0, 0, default, End, 0, 0); // the sentinel after the last window
    }

    private void UnrollShort(in Segment segment, Span<HeldWindow> mine)
    {
        for (int i = 0; i < mine.Length; i++)
        {
            uint entry = _shortDirectory[segment.FirstWindow + i];
            int start = segment.Start + PostingSegment.StartOf(entry);
            int end = i + 1 < mine.Length
                ? segment.Start + PostingSegment.StartOf(_shortDirectory[segment.FirstWindow + i + 1])
                : segment.End;
            long window = segment.First + PostingSegment.WindowOf(entry);
            var rest = new HeldBytes(_shortPayloads.AsSpan(start));
            mine[i] = new HeldWindow(window, PostingSegment.CountOf(entry), end - start, rest, segment.First, mine.Length, i);
        }
    }

    /// <summary>The window at a place; the place after the last has window <see cref="End"/>.</summary>
    public ref readonly HeldWindow this[int place] => ref _places[place];

    /// <summary>The first place from <paramref name="place"/> on whose window is not before a nearby window.</summary>
    public int Step(int place, long window)
    {
        Debug.Assert(IsUnrolled, "3: places exist once the list is unrolled");
        Debug.Assert(place >= 0 && place <= Windows, "3: a place is of a window or the sentinel");
        while (_places[place].Window < window)
            place++;
        return place;
    }

    /// <summary>
    /// The first place whose window is not before <paramref name="window"/>; windows may come in any order. If the list has
    /// all windows up to it, its number is its place.
    /// </summary>
    public int PlaceOf(long window)
    {
        Debug.Assert(IsUnrolled, "3: places exist once the list is unrolled");
        if (window < Windows && _places[window].Window == window)
            return (int)window;
        int low = 0, high = Windows;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (_places[middle].Window < window)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }

    /// <summary>Whether an entry is in the list. Entries may come in any order.</summary>
    public bool Contains(long id)
    {
        long window = id >> PostingWindow.SizeBits;
        int place = PlaceOf(window);
        return _places[place].Window == window && _places[place].Postings.Contains((int)(id & (PostingWindow.Size - 1)));
    }

    /// <summary>
    /// Encodes the entries of one window of a short list like those of a long list, with the maximum impact; returns their
    /// number.
    /// </summary>
    private static int Encode(ReadOnlySpan<Posting> from, long window, Span<byte> output, out int bytes)
    {
        int count = 0, most = 0;
        for (; count < from.Length && from[count].Window == window; count++)
        {
            // If there are too many for a LIST, they are encoded again below.
            ushort offset = from[count].Offset;
            MemoryMarshal.Write(output[(sizeof(ushort) * count)..], in offset);
            most = Math.Max(most, from[count].Frequency);
        }

        bytes = sizeof(ushort) * count;
        if (most <= 1 && count < PostingWindow.MinBitsCount)
            return count;

        Span<ushort> offsets = stackalloc ushort[count];
        Span<int> frequencies = stackalloc int[count];
        Span<byte> impacts = stackalloc byte[PostingWindow.Blocks];
        impacts.Fill(byte.MaxValue);
        for (int i = 0; i < count; i++)
            (offsets[i], frequencies[i]) = (from[i].Offset, from[i].Frequency);
        bytes = PostingWindow.Encode(offsets, frequencies, impacts, output);
        return count;
    }

    private ref Segment NextSegment()
    {
        if (_segmentCount == _segments.Length)
            Array.Resize(ref _segments, 2 * _segmentCount);
        return ref _segments[_segmentCount++];
    }

    private struct Segment
    {
        /// <summary>The segment of a long list.</summary>
        public HeldBytes Whole;

        /// <summary>
        /// For a short list: the first window of the segment, the index of that window in the directory, and the start and
        /// end of the payloads.
        /// </summary>
        public long First;
        public int FirstWindow, Start, End;
        public int Windows;
    }
}
