using System.Buffers.Binary;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Terms;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Reads the positions of postings of one long list. Ascending ranks of a window are read in one walk over its positions; numbers in between are
/// passed over without being decoded. One object per term and query; it holds one storage cursor.
/// </summary>
internal sealed class PositionCursor(Tree positions, long listId) : IDisposable
{
    private readonly Cursor cursor = positions.OpenCursor();
    private int[] decoded = new int[16];
    private long window = -1;
    private long segment;
    private int windowIndex;
    private int segmentWindows;
    private int firstRank;
    private int endRank;
    private int nextRank;
    private int place;

    /// <summary>The positions of the posting of a rank in the window that <paramref name="list"/> stands on; they live until the next call.</summary>
    public ReadOnlySpan<int> Read(PostingCursor list, PostingWindow postings, int rank)
    {
        long number = list.SegmentFirstWindow;
        if (window < 0 || number != segment || list.WindowIndex != windowIndex || rank < firstRank || rank >= endRank)
        {
            segment = number;
            windowIndex = list.WindowIndex;
            segmentWindows = list.SegmentWindows;
            window = number;
            Seek(postings, rank);
        }
        else if (rank < nextRank)
        {
            nextRank = firstRank;
            place = 0;
        }

        ReadOnlySpan<byte> bytes = Block();
        place += VarintKernels.Skip(bytes[place..], postings.SumFrequencies(nextRank, rank));
        nextRank = rank;

        int count = postings.Frequency(rank);
        if (decoded.Length < count)
            decoded = new int[Math.Max(count, decoded.Length * 2)];
        ReadOnlySpan<byte> rest = bytes[place..];
        int last = 0;
        for (int i = 0; i < count; i++)
            decoded[i] = last += Varint.Read(ref rest);
        place = bytes.Length - rest.Length;
        nextRank = rank + 1;
        return decoded.AsSpan(0, count);
    }

    /// <summary>
    /// The positions of several entries of the window that <paramref name="list"/> stands on, which ascend: one pass over what lies there. An entry that is not among the
    /// postings has none.
    /// </summary>
    public void Read(PostingCursor list, PostingWindow postings, ReadOnlySpan<ushort> entries, PositionTable table)
    {
        window = -1; // single reads begin anew
        segment = list.SegmentFirstWindow;
        windowIndex = list.WindowIndex;
        segmentWindows = list.SegmentWindows;
        endRank = 0;
        Span<ushort> before = stackalloc ushort[PostingWindow.Blocks];
        bool isCounted = postings.TryCountBefore(before);
        var frequencies = new FrequencyReader(postings);
        ReadOnlySpan<byte> rest = default;
        int next = 0;
        foreach (ushort entry in entries)
        {
            int rank = isCounted ? postings.Rank(entry, before) : postings.Rank(entry);
            if (rank < 0)
            {
                table.Next(0);
                continue;
            }

            if (rank >= endRank)
            {
                Seek(postings, rank);
                rest = Block();
                next = firstRank;
            }

            if (rank > next)
                rest = rest[VarintKernels.Skip(rest, frequencies.Sum(next, rank))..];
            next = rank + 1;
            Span<int> values = table.Next(frequencies.At(rank));
            int last = 0;
            foreach (ref int value in values)
            {
                // Nearly all take one byte.
                if (rest[0] < 0x80)
                {
                    last += rest[0];
                    rest = rest[1..];
                }
                else
                {
                    last += Varint.Read(ref rest);
                }

                value = last;
            }
        }
    }

    /// <summary>
    /// The block that holds a rank of the window that <paramref name="list"/> stands on: the positions of the ranks from <paramref name="first"/> on, and up to before
    /// <paramref name="end"/>. For one who reads it himself.
    /// </summary>
    public ReadOnlySpan<byte> Block(PostingCursor list, PostingWindow postings, int rank, out int first, out int end)
    {
        window = -1; // single reads begin anew
        segment = list.SegmentFirstWindow;
        windowIndex = list.WindowIndex;
        segmentWindows = list.SegmentWindows;
        Seek(postings, rank);
        (first, end) = (firstRank, endRank);
        return Block();
    }

    public void Dispose() => cursor.Dispose();

    /// <summary>Goes to the block that holds a rank.</summary>
    private void Seek(PostingWindow postings, int rank)
    {
        Span<byte> key = stackalloc byte[PositionKey.Bytes];
        PositionKey.Write(key, listId, segment, segmentWindows > 1 ? 0 : rank);
        bool found = cursor.Seek(key);
        if (!found || !cursor.Key.SequenceEqual(key))
            found = found ? cursor.MovePrevious() : cursor.MoveLast();
        if (!found || !PositionKey.IsOf(cursor.Key, listId, segment))
            throw new CorruptionException($"The index misses the positions of list {listId} from window {segment} on. Reset the index to build it again.");

        firstRank = PositionKey.Rank(cursor.Key);
        endRank = segmentWindows > 1 ? postings.Count : firstRank + BinaryPrimitives.ReadUInt16LittleEndian(cursor.Value);
        nextRank = firstRank;
        place = 0;
    }

    /// <summary>The positions of the block, from its first rank on.</summary>
    private ReadOnlySpan<byte> Block()
    {
        ReadOnlySpan<byte> value = cursor.Value;
        return segmentWindows == 1
            ? value[sizeof(ushort)..]
            : value[((segmentWindows * sizeof(ushort)) + BinaryPrimitives.ReadUInt16LittleEndian(value[(windowIndex * sizeof(ushort))..]))..];
    }
}
