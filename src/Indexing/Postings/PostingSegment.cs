using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Indexing.Postings;

/// <summary>
/// A run of windows of one term, read in place: the unit in which long lists lie in a postings tree, and the whole of a
/// short list beside its term.
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       1     form: 1
/// 1       1     0
/// 2       2     n, number of windows
/// 4       8     number of the first window
/// 12      8·n   directory, ascending: window − first window (4), postings − 1 (2), start of the payload (2)
/// 12+8n   …     payloads, see <see cref="PostingWindow"/>; starts count from here
/// </code>
/// </summary>
internal readonly ref struct PostingSegment
{
    public const int HeaderBytes = 12;
    public const int DirectoryEntryBytes = 8;

    private const byte PlainForm = 1;

    private readonly ReadOnlySpan<byte> bytes;

    public PostingSegment(ReadOnlySpan<byte> bytes)
    {
        Debug.Assert(bytes.Length > HeaderBytes && bytes[0] == PlainForm);
        this.bytes = bytes;
        Count = BinaryPrimitives.ReadUInt16LittleEndian(bytes[2..]);
        FirstWindow = BinaryPrimitives.ReadInt64LittleEndian(bytes[4..]);
    }

    /// <summary>Windows.</summary>
    public int Count { get; }

    public long FirstWindow { get; }

    public long LastWindow => WindowAt(Count - 1);

    public long WindowAt(int index) => FirstWindow + BinaryPrimitives.ReadUInt32LittleEndian(Entry(index));

    public int CountAt(int index) => BinaryPrimitives.ReadUInt16LittleEndian(Entry(index)[4..]) + 1;

    public PostingWindow PostingsAt(int index) => new(CountAt(index), PayloadAt(index));

    public ReadOnlySpan<byte> PayloadAt(int index)
    {
        ReadOnlySpan<byte> payloads = bytes[(HeaderBytes + (Count * DirectoryEntryBytes))..];
        int start = BinaryPrimitives.ReadUInt16LittleEndian(Entry(index)[6..]);
        int end = index + 1 < Count ? BinaryPrimitives.ReadUInt16LittleEndian(Entry(index + 1)[6..]) : payloads.Length;
        return payloads[start..end];
    }

    /// <summary>
    /// Index, from <paramref name="start"/> on, of the first window that is not before <paramref name="window"/>; <see cref="Count"/> if there is none. The next two
    /// are looked at first: walks ask in order.
    /// </summary>
    public int LowerBound(long window, int start = 0)
    {
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

    /// <summary>Writes the header and directory of a segment; the payloads follow at <c>HeaderBytes + 8·n</c>.</summary>
    public static void WriteHeader(Span<byte> output, int count, long firstWindow)
    {
        output[0] = PlainForm;
        output[1] = 0;
        BinaryPrimitives.WriteUInt16LittleEndian(output[2..], (ushort)count);
        BinaryPrimitives.WriteInt64LittleEndian(output[4..], firstWindow);
    }

    /// <summary>Writes one entry of the directory.</summary>
    public static void WriteEntry(Span<byte> output, int index, long windowsFromFirst, int postings, int payloadStart)
    {
        Span<byte> entry = output.Slice(HeaderBytes + (index * DirectoryEntryBytes), DirectoryEntryBytes);
        BinaryPrimitives.WriteUInt32LittleEndian(entry, checked((uint)windowsFromFirst));
        BinaryPrimitives.WriteUInt16LittleEndian(entry[4..], checked((ushort)(postings - 1)));
        BinaryPrimitives.WriteUInt16LittleEndian(entry[6..], checked((ushort)payloadStart));
    }

    private ReadOnlySpan<byte> Entry(int index) => bytes.Slice(HeaderBytes + (index * DirectoryEntryBytes), DirectoryEntryBytes);
}
