using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;
using Treepie.Storage.Memory;

namespace Treepie.Indexing.Matching.Lists;

/// <summary>
/// The segments of one list of few entries a window, which are looked at where they lie: what a <see cref="ListIntersection"/> goes along. A short list is put into the same form when it is decoded. It stands on a window,
/// before the first, or behind the last of a segment.
/// </summary>
/// <remarks>Memory: 40 bytes a segment; where it had a short list, 3 KiB.</remarks>
internal sealed class SegmentList : IReusable
{
    private const int FirstSegments = 16, MaxKeptSegments = 1_024;

    /// <summary>So many bytes behind the entries of a short list may be read.</summary>
    private const int PaddingBytes = 64;

    /// <summary>Longest payloads of a short list: two bitmaps with frequencies are longer than any lists.</summary>
    private const int MostPayloadBytes = 2_304;

    private Segment[] segments = new Segment[FirstSegments];
    private int count;
    private int next;
    private bool isShort;

    // Of a short list: these arrays are never moved, so that pieces of them can be held as those of pages are.
    private uint[] windows = [];
    private byte[] payloads = [];

    // The segment it stands in.
    private HeldBytes whole;
    private HeldBytes directory;
    private HeldBytes payload;
    private int payloadBytes;
    private bool isNarrow;

    /// <summary>Windows of all segments.</summary>
    public int Windows { get; private set; }

    /// <summary>Whether it is a short list.</summary>
    public bool IsShort => isShort;

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

    /// <summary>Entries of the window.</summary>
    public int Count => isNarrow ? PostingSegment.CountOf(Directory[At]) : Whole.CountAt(At);

    /// <summary>Their offsets, ascending, and behind them what may be read and means nothing; empty where they lie as bits.</summary>
    public ReadOnlySpan<ushort> Offsets => Count < PostingWindow.MinBitsCount ? MemoryMarshal.Cast<byte, ushort>(payload.Span[Start..]) : default;

    /// <summary>The postings of the window.</summary>
    public PostingWindow Postings
    {
        get
        {
            ReadOnlySpan<uint> mine = Directory;
            return isNarrow
                ? new PostingWindow(PostingSegment.CountOf(mine[At]), payload.Span[PostingSegment.StartOf(mine[At])..(At + 1 < mine.Length ? PostingSegment.StartOf(mine[At + 1]) : payloadBytes)])
                : Whole.PostingsAt(At);
        }
    }

    /// <summary>Where the window lies, to be looked at when the list has gone on.</summary>
    public HeldWindow Held
    {
        get
        {
            int start = Start, end = At + 1 == Here ? payloadBytes : isNarrow ? PostingSegment.StartOf(Directory[At + 1]) : Whole.StartAt(At + 1);
            return new HeldWindow(Window, Count, end - start, new HeldBytes(payload.Span[start..]), FirstWindow, Here, At);
        }
    }

    /// <summary>The most that an entry of the window can score.</summary>
    /// <param name="unit">What an impact of 1/255 is worth; 0: every match counts the same.</param>
    /// <param name="most">What no entry scores more than.</param>
    public float Bound(float unit, float most) => unit == 0 || isShort ? most : unit * Postings.LargestImpact;

    /// <summary>Adds the parts of entries of the window, which the list has all.</summary>
    public void Score(TermScorer? scorer, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        if (scorer is null)
        {
            for (int i = 0; i < hits.Length; i++)
                scores[i] += boost;
            return;
        }

        PostingWindow postings = Postings;
        ReadOnlySpan<ushort> padded = Offsets;
        if (padded.Length >= postings.Count + PaddingBytes / sizeof(ushort))
            scorer.ScorePadded(Window, in postings, padded, hits, scores, boost);
        else
            scorer.Score(Window, in postings, hits, scores, boost);
    }

    private PostingSegment Whole => new(whole.Span);

    private ReadOnlySpan<uint> Directory => MemoryMarshal.Cast<byte, uint>(directory.Span);

    private int Start => isNarrow ? PostingSegment.StartOf(Directory[At]) : Whole.StartAt(At);

    public void Clear()
    {
        if (segments.Length > MaxKeptSegments)
            segments = new Segment[FirstSegments];
        (count, next, isShort, Windows, Here, At) = (0, 0, false, 0, 0, 0);
    }

    /// <summary>Adds all segments of a long list.</summary>
    public void Add(PostingCursor list, QueryMeter meter)
    {
        foreach (PostingSegment segment in list.Segments())
        {
            meter.Count.BytesDecoded += segment.Payloads.Length;
            Next() = new Segment { Whole = new HeldBytes(segment.Bytes), Windows = segment.Count };
            Windows += segment.Count;
        }
    }

    /// <summary>Adds all entries of a short list.</summary>
    public void Add(ReadOnlySpan<Posting> all)
    {
        if (payloads.Length == 0)
        {
            windows = GC.AllocateUninitializedArray<uint>(FlatPostings.MaxEntries, pinned: true);
            payloads = GC.AllocateUninitializedArray<byte>(MostPayloadBytes + PaddingBytes, pinned: true);
        }

        isShort = true;
        int place = 0, begin = 0;
        long first = 0;
        for (int i = 0; i < all.Length;)
        {
            long window = all[i].Window;
            if (count == 0 || window - first > byte.MaxValue)
            {
                Next() = new Segment { First = first = window, Start = begin = place, FirstWindow = Windows };
            }

            int of = Encode(all[i..], window, payloads.AsSpan(place, MostPayloadBytes - place), out int bytes);
            windows[Windows++] = (uint)(window - first) | ((uint)(of - 1) << 8) | ((uint)(place - begin) << 16);
            place += bytes;
            i += of;
            ref Segment last = ref segments[count - 1];
            (last.Windows, last.End) = (last.Windows + 1, place);
        }
    }

    /// <summary>Goes to the next segment, onto its first window; false behind the last.</summary>
    public bool MoveNextSegment()
    {
        At = 0;
        if (next == count)
        {
            Here = 0;
            return false;
        }

        ref Segment segment = ref segments[next++];
        Here = segment.Windows;
        if (isShort)
        {
            isNarrow = true;
            FirstWindow = segment.First;
            directory = new HeldBytes(MemoryMarshal.AsBytes(windows.AsSpan(segment.FirstWindow, Here)));
            payload = new HeldBytes(payloads.AsSpan(segment.Start));
            payloadBytes = segment.End - segment.Start;
            return true;
        }

        whole = segment.Whole;
        if (next < count)
            PrefetchKernels.Prefetch(segments[next].Whole.Span);
        PostingSegment found = Whole;
        FirstWindow = found.FirstWindow;
        ReadOnlySpan<uint> narrow = found.NarrowEntries;
        isNarrow = !narrow.IsEmpty;
        directory = new HeldBytes(MemoryMarshal.AsBytes(narrow));
        payload = new HeldBytes(found.Payloads);
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

    /// <summary>Both of two lists, each on a window or behind its segment, go on to the first window that both have and in which they may have an entry in common; false where one of them has left its segment.</summary>
    public static bool Meet(SegmentList one, SegmentList other)
    {
        long apart = other.FirstWindow - one.FirstWindow;
        if (one.isNarrow && other.isNarrow && Math.Abs(apart) <= byte.MaxValue)
        {
            int oneAt = one.At, otherAt = other.At;
            bool found = MeetKernels.Next(new WindowRun(one.Directory, one.payload.Span), ref oneAt, new WindowRun(other.Directory, other.payload.Span), ref otherAt, (int)apart);
            (one.At, other.At) = (oneAt, otherAt);
            return found;
        }

        while (one.IsOnWindow && other.IsOnWindow)
        {
            long mine = one.Window, others = other.Window;
            if (mine == others)
                return true;
            one.At += mine < others ? 1 : 0;
            other.At += mine > others ? 1 : 0;
        }

        return false;
    }

    /// <summary>Writes the entries of a window as a long list has them; returns how many there are.</summary>
    private static int Encode(ReadOnlySpan<Posting> from, long window, Span<byte> output, out int bytes)
    {
        int count = 0, most = 0;
        for (; count < from.Length && from[count].Window == window; count++)
        {
            // More than a list may have are written anew below.
            ushort offset = from[count].Offset;
            MemoryMarshal.Write(output[(sizeof(ushort) * count)..], in offset);
            most = Math.Max(most, from[count].Frequency);
        }

        bytes = sizeof(ushort) * count;
        if (most <= 1 && count < PostingWindow.MinBitsCount)
            return count;

        Span<ushort> offsets = stackalloc ushort[count];
        Span<int> frequencies = stackalloc int[count];
        for (int i = 0; i < count; i++)
            (offsets[i], frequencies[i]) = (from[i].Offset, from[i].Frequency);
        bytes = PostingWindow.Encode(offsets, frequencies, stackalloc byte[PostingWindow.Blocks], output);
        return count;
    }

    private ref Segment Next()
    {
        if (count == segments.Length)
            Array.Resize(ref segments, 2 * count);
        return ref segments[count++];
    }

    private struct Segment
    {
        /// <summary>Of a long list.</summary>
        public HeldBytes Whole;

        /// <summary>Of a short list: its first window, where that is in the directory, and where its payloads begin and end.</summary>
        public long First;
        public int FirstWindow;
        public int Start;
        public int End;
        public int Windows;
    }
}
