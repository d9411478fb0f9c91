using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Storage.Memory;

namespace Treepie.Indexing.Postings;

/// <summary>
/// A run of windows of one term, read in place: the unit in which long lists are stored in a postings tree.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       1     form: 1 or 2
/// 1       1     0
/// 2       2     n, number of windows
/// 4       8     number of the first window
/// 12      …     directory, ascending, per window
///         form 1, 8: window − first window (4), postings − 1 (2), start of the payload (2)
///         form 2, 4: window − first window (1), postings − 1 (1), start of the payload (2)
///         …     payloads, see <see cref="PostingWindow"/>; starts are relative to here
/// </code>
/// Nearly all segments have form 2; form 1 is for the few whose windows span more than 256 or have more than 256 postings.
/// Invariants: 1. Windows ascend. 2. Payload starts ascend, the first is 0.
/// </summary>
internal readonly ref struct PostingSegment
{
    public const int HeaderBytes = 12;
    public const int DirectoryEntryBytes = 8;

    /// <summary>Bytes of an entry of the directory of form 2.</summary>
    public const int NarrowEntryBytes = 4;

    private const byte PlainForm = 1;
    private const byte NarrowForm = 2;

    private readonly bool _isNarrow;
    private readonly int _entryBytes;

    public PostingSegment(ReadOnlySpan<byte> bytes)
    {
        Debug.Assert(bytes.Length > HeaderBytes && bytes[0] is PlainForm or NarrowForm, "the value is a segment");
        Bytes = bytes;
        _isNarrow = bytes[0] == NarrowForm;
        _entryBytes = _isNarrow ? NarrowEntryBytes : DirectoryEntryBytes;
        Count = BinaryPrimitives.ReadUInt16LittleEndian(bytes[2..]);
        FirstWindow = BinaryPrimitives.ReadInt64LittleEndian(bytes[4..]);
    }

    /// <summary>The whole segment.</summary>
    public ReadOnlySpan<byte> Bytes { get; }

    /// <summary>Number of windows.</summary>
    public int Count { get; }

    public long FirstWindow { get; }

    public long LastWindow => WindowAt(Count - 1);

    /// <summary>Prefetches its bytes.</summary>
    public void Prefetch() => PrefetchKernels.Prefetch(Bytes);

    public long WindowAt(int index) =>
        FirstWindow + (_isNarrow ? Bytes[Place(index)] : BinaryPrimitives.ReadUInt32LittleEndian(Bytes[Place(index)..]));

    public int CountAt(int index) =>
        1 + (_isNarrow ? Bytes[Place(index) + 1] : BinaryPrimitives.ReadUInt16LittleEndian(Bytes[(Place(index) + 4)..]));

    public PostingWindow PostingsAt(int index) => new(CountAt(index), PayloadAt(index));

    public ReadOnlySpan<byte> PayloadAt(int index)
    {
        ReadOnlySpan<byte> payloads = Bytes[Place(Count)..];
        int start = StartAt(index);
        int end = index + 1 < Count ? StartAt(index + 1) : payloads.Length;
        return payloads[start..end];
    }

    /// <summary>
    /// The directory of form 2, one integer per entry: see <see cref="WindowOf"/>, <see cref="CountOf"/>, <see cref="StartOf"/>.
    /// Empty for form 1.
    /// </summary>
    public ReadOnlySpan<uint> NarrowEntries =>
        _isNarrow ? MemoryMarshal.Cast<byte, uint>(Bytes.Slice(HeaderBytes, Count * NarrowEntryBytes)) : default;

    /// <summary>The payloads of all windows.</summary>
    public ReadOnlySpan<byte> Payloads => Bytes[Place(Count)..];

    /// <summary>Sets the bits of all postings in a bitmap that covers all windows.</summary>
    public void CopyTo(Span<ulong> bits)
    {
        Debug.Assert(bits.Length % BitmapKernels.Words == 0, "the bitmap is of whole windows");
        ReadOnlySpan<byte> payloads = Payloads;
        ReadOnlySpan<uint> narrow = NarrowEntries;
        for (int i = 0; i < Count; i++)
        {
            (long window, int count, int start) = EntryAt(i, narrow);
            Span<ulong> words = bits.Slice(checked((int)window * BitmapKernels.Words), BitmapKernels.Words);
            ReadOnlySpan<byte> rest = payloads[start..];
            if (count >= PostingWindow.MinBitsCount)
            {
                if (count == PostingWindow.Size)
                    words.Fill(ulong.MaxValue);
                else
                    BitmapKernels.Combine<OrOperation>(words, rest[..BitmapKernels.Bytes]);
                continue;
            }

            // The payloads that follow are readable bytes after the offsets.
            ReadOnlySpan<ushort> offsets = MemoryMarshal.Cast<byte, ushort>(rest);
            if (offsets.Length >= count + BitmapKernels.SetPadding)
                BitmapKernels.SetPadded(words, offsets, count);
            else
                BitmapKernels.Set(words, offsets[..count]);
        }
    }

    /// <summary>An entry of the directory: the window, its number of postings, and where its payload begins.</summary>
    /// <param name="index">Index of the window.</param>
    /// <param name="narrow"><see cref="NarrowEntries"/>, which a loop reads once.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public (long Window, int Count, int Start) EntryAt(int index, ReadOnlySpan<uint> narrow) => index < narrow.Length
        ? (FirstWindow + WindowOf(narrow[index]), CountOf(narrow[index]), StartOf(narrow[index]))
        : (WindowAt(index), CountAt(index), StartAt(index));

    /// <summary>Writes where the postings of each window are.</summary>
    public void Hold(Span<HeldWindow> windows)
    {
        Debug.Assert(windows.Length == Count, "each window gets a place");
        ReadOnlySpan<byte> payloads = Payloads;
        ReadOnlySpan<uint> narrow = NarrowEntries;
        int end = payloads.Length;
        for (int i = windows.Length - 1; i >= 0; i--)
        {
            // Backwards, because each payload ends where the next begins.
            (long window, int count, int start) = EntryAt(i, narrow);
            windows[i] = new HeldWindow(window, count, end - start, new HeldBytes(payloads[start..]), FirstWindow, Count, i);
            end = start;
        }
    }

    /// <summary>Distance of the window of an entry of <see cref="NarrowEntries"/> from the first.</summary>
    public static int WindowOf(uint entry) => (byte)entry;

    /// <summary>Number of postings of that window.</summary>
    public static int CountOf(uint entry) => 1 + (byte)(entry >> 8);

    /// <summary>Where its payload begins.</summary>
    public static int StartOf(uint entry) => (int)(entry >> 16);

    /// <summary>Whether the directory has form 2.</summary>
    public bool IsOfNarrowForm => _isNarrow;

    /// <summary>The directory entries of the first <paramref name="windows"/> windows.</summary>
    public ReadOnlySpan<byte> EntriesOf(int windows) => Bytes[HeaderBytes..Place(windows)];

    /// <summary>The payloads of the first <paramref name="windows"/> windows.</summary>
    public ReadOnlySpan<byte> PayloadsOf(int windows) => windows == Count ? Payloads : Payloads[..StartAt(windows)];

    /// <summary>Start of the payloads in a segment of <paramref name="windows"/> windows.</summary>
    public static int PayloadStart(bool isNarrow, int windows) =>
        HeaderBytes + (windows * (isNarrow ? NarrowEntryBytes : DirectoryEntryBytes));

    /// <summary>Whether a window fits into a directory of form 2.</summary>
    public static bool IsNarrow(long windowsFromFirst, int postings) =>
        windowsFromFirst <= byte.MaxValue && postings <= byte.MaxValue + 1;

    /// <summary>
    /// Returns the index, from <paramref name="start"/> on, of the first window that is not before
    /// <paramref name="window"/>, or <see cref="Count"/> if there is none. The first two are tried before a binary search
    /// because scans request windows in order.
    /// </summary>
    public int LowerBound(long window, int start = 0)
    {
        Debug.Assert(start >= 0 && start <= Count, "a search begins within the directory");
        int low = start;
        for (int end = Math.Min(Count, start + 2); low < end; low++)
        {
            if (WindowAt(low) >= window)
                return low;
        }

        int high = Count;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (WindowAt(middle) < window)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }

    /// <summary>Writes the header of a segment; the directory and the payloads follow.</summary>
    public static void WriteHeader(Span<byte> output, bool isNarrow, int count, long firstWindow)
    {
        Debug.Assert(count is > 0 and <= ushort.MaxValue && firstWindow >= 0, "a segment has windows");
        output[0] = isNarrow ? NarrowForm : PlainForm;
        output[1] = 0;
        BinaryPrimitives.WriteUInt16LittleEndian(output[2..], (ushort)count);
        BinaryPrimitives.WriteInt64LittleEndian(output[4..], firstWindow);
    }

    /// <summary>Writes one entry of the directory.</summary>
    public static void WriteEntry(
        Span<byte> output, bool isNarrow, int index, long windowsFromFirst, int postings, int payloadStart)
    {
        Debug.Assert(windowsFromFirst >= index, "1: windows ascend");
        Debug.Assert(index > 0 || payloadStart == 0, "2: the first payload starts at 0");
        Debug.Assert(postings is > 0 and <= PostingWindow.Size, "no window is empty");
        Debug.Assert(!isNarrow || IsNarrow(windowsFromFirst, postings), "a directory of form 2 has narrow entries only");
        Debug.Assert(payloadStart is >= 0 and <= ushort.MaxValue, "2: a payload starts within reach of its entry");
        if (isNarrow)
        {
            Span<byte> narrow = output.Slice(HeaderBytes + (index * NarrowEntryBytes), NarrowEntryBytes);
            narrow[0] = checked((byte)windowsFromFirst);
            narrow[1] = checked((byte)(postings - 1));
            BinaryPrimitives.WriteUInt16LittleEndian(narrow[2..], checked((ushort)payloadStart));
            return;
        }

        Span<byte> entry = output.Slice(HeaderBytes + (index * DirectoryEntryBytes), DirectoryEntryBytes);
        BinaryPrimitives.WriteUInt32LittleEndian(entry, checked((uint)windowsFromFirst));
        BinaryPrimitives.WriteUInt16LittleEndian(entry[4..], checked((ushort)(postings - 1)));
        BinaryPrimitives.WriteUInt16LittleEndian(entry[6..], checked((ushort)payloadStart));
    }

    private int Place(int index) => HeaderBytes + (index * _entryBytes);

    /// <summary>Where the payload of a window begins.</summary>
    public int StartAt(int index) => BinaryPrimitives.ReadUInt16LittleEndian(Bytes[(Place(index) + (_isNarrow ? 2 : 6))..]);
}
