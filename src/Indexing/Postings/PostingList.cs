using System.Numerics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Storage.Memory;

namespace Treepie.Indexing.Postings;

/// <summary>
/// One view of the postings of a term, whether its list is short or long: a directory of the windows that have entries, and their
/// payloads, read where they lie. The list can be walked by segments, which is the cheapest way
/// along it, or looked at by window once <see cref="Unroll"/> has put the whole directory side by side. A short list is decoded
/// into payloads of the same form.
/// </summary>
/// <remarks>Memory: 40 bytes a segment, 48 a window once it is unrolled, and 4 KiB where it had a short list.</remarks>
internal sealed class PostingList : IReusable
{
    /// <summary>No window.</summary>
    public const long End = PostingCursor.End;

    private const int FirstSegments = 16, FirstPlaces = 64, MaxKeptSegments = 1_024, MaxKeptPlaces = 4_096;

    /// <summary>Bytes behind the payloads of a short list that may be read.</summary>
    private const int PaddingBytes = 64;

    /// <summary>Longest payloads of a short list: two bitmaps with impacts and frequencies are longer than any lists.</summary>
    private const int MostPayloadBytes = 3_072;

    private Segment[] segments = new Segment[FirstSegments];
    private int segmentCount;
    private int next;
    private HeldWindow[] places = new HeldWindow[FirstPlaces];
    private int placeCount;

    // Payloads of a short list: pinned, so that parts of them can be held as those of pages are.
    private uint[] shortDirectory = [];
    private byte[] shortPayloads = [];

    // The segment it stands in.
    private HeldBytes whole, directory, payloads;
    private int payloadBytes;
    private bool isNarrow;

    /// <summary>Whether it is a short list: nothing is known of its impacts.</summary>
    public bool IsShort { get; private set; }

    /// <summary>Windows that have entries.</summary>
    public int Windows { get; private set; }

    /// <summary>Whether windows can be looked at by their place.</summary>
    public bool IsUnrolled => placeCount > 0;

    /// <summary>First window of the segment it stands in.</summary>
    public long FirstWindow { get; private set; }

    /// <summary>Windows of that segment.</summary>
    public int Here { get; private set; }

    /// <summary>The place in it.</summary>
    public int At { get; set; }

    /// <summary>Whether it stands on a window.</summary>
    public bool IsOnWindow => At < Here;

    /// <summary>The window it stands on.</summary>
    public long Window => isNarrow ? FirstWindow + PostingSegment.WindowOf(Directory[At]) : Whole.WindowAt(At);

    /// <summary>Entries of the window it stands on.</summary>
    public int Count => isNarrow ? PostingSegment.CountOf(Directory[At]) : Whole.CountAt(At);

    /// <summary>
    /// The offsets of the window it stands on, ascending, followed by bytes that may be read and mean nothing; empty where they
    /// are a bitmap.
    /// </summary>
    public ReadOnlySpan<ushort> Offsets =>
        Count < PostingWindow.MinBitsCount ? MemoryMarshal.Cast<byte, ushort>(payloads.Span[Start..]) : default;

    /// <summary>Where the window it stands on lies, to be looked at when the list has gone on.</summary>
    public HeldWindow Held
    {
        get
        {
            int start = Start, behind = At + 1;
            int end = behind == Here
                ? payloadBytes
                : isNarrow ? PostingSegment.StartOf(Directory[behind]) : Whole.StartAt(behind);
            return new HeldWindow(Window, Count, end - start, new HeldBytes(payloads.Span[start..]), FirstWindow, Here, At);
        }
    }

    private PostingSegment Whole => new(whole.Span);

    private ReadOnlySpan<uint> Directory => MemoryMarshal.Cast<byte, uint>(directory.Span);

    private int Start => isNarrow ? PostingSegment.StartOf(Directory[At]) : Whole.StartAt(At);

    /// <inheritdoc/>
    public void Clear()
    {
        if (segments.Length > MaxKeptSegments)
            segments = new Segment[FirstSegments];
        if (places.Length > MaxKeptPlaces)
            places = new HeldWindow[FirstPlaces];
        (segmentCount, next, placeCount, IsShort, Windows, Here, At) = (0, 0, 0, false, 0, 0, 0);
    }

    /// <summary>Takes all segments of a long list.</summary>
    /// <param name="list">The list.</param>
    /// <param name="meter">Counts their bytes.</param>
    /// <param name="query">The query; it is checked at every segment.</param>
    public void Open(PostingCursor list, QueryMeter meter, IStoppable query)
    {
        foreach (PostingSegment segment in list.Segments())
        {
            query.Check();
            meter.Count.BytesDecoded += segment.Payloads.Length;
            NextSegment() = new Segment { Whole = new HeldBytes(segment.Bytes), Windows = segment.Count };
            Windows += segment.Count;
        }
    }

    /// <summary>Takes all entries of a short list.</summary>
    public void Open(ReadOnlySpan<Posting> all)
    {
        if (shortPayloads.Length == 0)
        {
            shortDirectory = GC.AllocateUninitializedArray<uint>(FlatPostings.MaxEntries, pinned: true);
            shortPayloads = GC.AllocateUninitializedArray<byte>(MostPayloadBytes + PaddingBytes, pinned: true);
        }

        IsShort = true;
        int place = 0, begin = 0;
        long first = 0;
        for (int i = 0; i < all.Length;)
        {
            long window = all[i].Window;
            if (segmentCount == 0 || window - first > byte.MaxValue)
                NextSegment() = new Segment { First = first = window, Start = begin = place, FirstWindow = Windows };

            int of = Encode(all[i..], window, shortPayloads.AsSpan(place, MostPayloadBytes - place), out int bytes);
            shortDirectory[Windows++] = (uint)(window - first) | ((uint)(of - 1) << 8) | ((uint)(place - begin) << 16);
            place += bytes;
            i += of;
            ref Segment last = ref segments[segmentCount - 1];
            (last.Windows, last.End) = (last.Windows + 1, place);
        }
    }

    /// <summary>Stands before the first segment again.</summary>
    public void Rewind() => (next, Here, At) = (0, 0, 0);

    /// <summary>Goes to the next segment, onto its first window; false behind the last.</summary>
    public bool MoveNextSegment()
    {
        At = 0;
        if (next == segmentCount)
        {
            Here = 0;
            return false;
        }

        ref Segment segment = ref segments[next++];
        Here = segment.Windows;
        if (IsShort)
        {
            isNarrow = true;
            FirstWindow = segment.First;
            directory = new HeldBytes(MemoryMarshal.AsBytes(shortDirectory.AsSpan(segment.FirstWindow, Here)));
            payloads = new HeldBytes(shortPayloads.AsSpan(segment.Start));
            payloadBytes = segment.End - segment.Start;
            return true;
        }

        whole = segment.Whole;
        if (next < segmentCount)
            PrefetchKernels.Prefetch(segments[next].Whole.Span);
        var found = new PostingSegment(whole.Span);
        FirstWindow = found.FirstWindow;
        ReadOnlySpan<uint> narrow = found.NarrowEntries;
        isNarrow = !narrow.IsEmpty;
        directory = new HeldBytes(MemoryMarshal.AsBytes(narrow));
        payloads = new HeldBytes(found.Payloads);
        payloadBytes = found.Payloads.Length;
        return true;
    }

    /// <summary>Goes on to the first window that is not before one; false if there is none.</summary>
    public bool MoveTo(long window)
    {
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
    /// Both of two lists, each on a window or behind its segment, go on to the first window that both have and in which they may
    /// have an entry in common; false where one of them has left its segment.
    /// </summary>
    public static bool Meet(PostingList one, PostingList other)
    {
        long apart = other.FirstWindow - one.FirstWindow;
        if (one.isNarrow && other.isNarrow && Math.Abs(apart) <= byte.MaxValue)
        {
            int oneAt = one.At, otherAt = other.At;
            var mine = new WindowRun(one.Directory, one.payloads.Span);
            var others = new WindowRun(other.Directory, other.payloads.Span);
            bool found = MeetKernels.Next(in mine, ref oneAt, in others, ref otherAt, (int)apart);
            (one.At, other.At) = (oneAt, otherAt);
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

    /// <summary>Puts the directory of all segments side by side, so that windows can be looked at by their place.</summary>
    public void Unroll()
    {
        if (IsUnrolled)
            return;
        if (Windows >= places.Length)
            places = new HeldWindow[BitOperations.RoundUpToPowerOf2((uint)Windows + 1)];
        placeCount = Windows + 1;
        for (int i = 0, first = 0; i < segmentCount; first += segments[i++].Windows)
        {
            ref readonly Segment segment = ref segments[i];
            if (IsShort)
                UnrollShort(in segment, places.AsSpan(first, segment.Windows));
            else
                UnrollLong(new PostingSegment(segment.Whole.Span), places.AsSpan(first, segment.Windows));
        }

        places[Windows] = new HeldWindow(End, 0, 0, default, End, 0, 0); // behind the last window there is none
    }

    private void UnrollShort(in Segment segment, Span<HeldWindow> mine)
    {
        for (int i = 0; i < mine.Length; i++)
        {
            uint entry = shortDirectory[segment.FirstWindow + i];
            int start = segment.Start + PostingSegment.StartOf(entry);
            int end = i + 1 < mine.Length
                ? segment.Start + PostingSegment.StartOf(shortDirectory[segment.FirstWindow + i + 1])
                : segment.End;
            long window = segment.First + PostingSegment.WindowOf(entry);
            var rest = new HeldBytes(shortPayloads.AsSpan(start));
            mine[i] = new HeldWindow(window, PostingSegment.CountOf(entry), end - start, rest, segment.First, mine.Length, i);
        }
    }

    private static void UnrollLong(PostingSegment segment, Span<HeldWindow> mine)
    {
        ReadOnlySpan<byte> payloads = segment.Payloads;
        ReadOnlySpan<uint> narrow = segment.NarrowEntries;
        long first = segment.FirstWindow;
        int end = payloads.Length;
        for (int i = mine.Length - 1; i >= 0; i--)
        {
            // From the last on, as each payload ends where the one behind it begins.
            (long window, int count, int start) = segment.EntryAt(i, narrow);
            mine[i] = new HeldWindow(window, count, end - start, new HeldBytes(payloads[start..]), first, mine.Length, i);
            end = start;
        }
    }

    /// <summary>The window at a place; behind the last one of <see cref="End"/>.</summary>
    public ref readonly HeldWindow this[int place] => ref places[place];

    /// <summary>The first place from one on whose window is not before a window, which is near.</summary>
    public int Step(int place, long window)
    {
        while (places[place].Window < window)
            place++;
        return place;
    }

    /// <summary>
    /// The first place whose window is not before a window, asked in any order: where no window is missing, its number is its
    /// place.
    /// </summary>
    public int PlaceOf(long window)
    {
        if (window < Windows && places[window].Window == window)
            return (int)window;
        int low = 0, high = Windows;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (places[middle].Window < window)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }

    /// <summary>Whether an entry is in the list, asked in any order.</summary>
    public bool Contains(long id)
    {
        long window = id >> PostingWindow.SizeBits;
        int place = PlaceOf(window);
        return places[place].Window == window && places[place].Postings.Contains((int)(id & (PostingWindow.Size - 1)));
    }

    /// <summary>
    /// Writes the entries of a window of a short list as a long list has them, with the greatest impact there is; returns how
    /// many there are.
    /// </summary>
    private static int Encode(ReadOnlySpan<Posting> from, long window, Span<byte> output, out int bytes)
    {
        int count = 0, most = 0;
        for (; count < from.Length && from[count].Window == window; count++)
        {
            // Where there are too many for a list they are written anew below.
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
        if (segmentCount == segments.Length)
            Array.Resize(ref segments, 2 * segmentCount);
        return ref segments[segmentCount++];
    }

    private struct Segment
    {
        /// <summary>Of a long list.</summary>
        public HeldBytes Whole;

        /// <summary>
        /// Of a short list: its first window, where that is in the directory, and where its payloads begin and end.
        /// </summary>
        public long First;
        public int FirstWindow, Start, End;
        public int Windows;
    }
}
