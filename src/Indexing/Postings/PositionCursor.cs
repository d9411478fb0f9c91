using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Terms;
using Treepie.Storage;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Reads the positions of postings of one long list. Ascending ranks of a window take one scan over its positions; numbers in
/// between are skipped without decoding. One object per term and query.
/// </summary>
internal sealed class PositionCursor(PositionPlaces blocks, long listId)
{
    private int[] decoded = new int[16];
    private long window = -1;
    private long segment;
    private int windowIndex;
    private int segmentWindows;
    private int firstRank;
    private int endRank;
    private int nextRank;
    private int place;

    /// <summary>The positions of the posting at a rank of a window; valid until the next call.</summary>
    public ReadOnlySpan<int> Read(scoped in HeldWindow held, int rank)
    {
        PostingWindow postings = held.Postings;
        if (window < 0 || held.Segment != segment || held.WindowIndex != windowIndex || rank < firstRank)
        {
            Enter(held);
            window = segment;
        }

        bool isOther = rank >= endRank;
        ReadOnlySpan<byte> bytes = isOther ? Seek(postings, rank) : Block(firstRank, out _);
        if (isOther || rank < nextRank)
            (nextRank, place) = (firstRank, 0);
        Debug.Assert(nextRank >= firstRank && nextRank <= rank && rank < endRank, "the scan stays within the block, forward");
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
    /// Reads the positions of ascending entries of a window in one pass. An entry that is not among the postings has none.
    /// </summary>
    public void Read(in HeldWindow held, ReadOnlySpan<ushort> entries, PositionTable table)
    {
        Enter(held);
        PostingWindow postings = held.Postings;
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
                rest = Seek(postings, rank);
                next = firstRank;
            }

            if (rank > next)
                rest = rest[VarintKernels.Skip(rest, frequencies.Sum(next, rank))..];
            next = rank + 1;
            Span<int> values = table.Next(frequencies.At(rank));
            int last = 0;
            foreach (ref int value in values)
            {
                // Nearly all numbers take one byte.
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

    /// <summary>Copies the positions of all entries of a window; false if some take more than a byte, or there are too
    /// many.</summary>
    public bool TryCopy(in HeldWindow held, WindowPlaces places)
    {
        Enter(held);
        PostingWindow postings = held.Postings;
        if (!places.TryBegin(postings))
            return false;
        for (endRank = 0; endRank < postings.Count;)
        {
            if (!places.TryAdd(Seek(postings, endRank)))
                return false;
        }

        return places.IsWhole(postings.Count);
    }

    /// <summary>Starts on a window for reads of several entries.</summary>
    private void Enter(in HeldWindow held)
    {
        window = -1; // the next single read starts over
        segment = held.Segment;
        windowIndex = held.WindowIndex;
        segmentWindows = held.SegmentWindows;
        endRank = 0;
    }

    /// <summary>
    /// Moves forward to the block that contains a rank and returns its positions; starts at the first block of the window if
    /// there is no current one.
    /// </summary>
    private ReadOnlySpan<byte> Seek(PostingWindow postings, int rank)
    {
        while (true)
        {
            firstRank = endRank;
            ReadOnlySpan<byte> block = Block(firstRank, out int count);
            endRank = segmentWindows > 1 ? postings.Count : firstRank + count;
            if (endRank == firstRank || endRank > postings.Count)
                throw new CorruptionException(
                    $"A block of the positions of list {listId} in window {segment} is of {count} postings from {firstRank} on, "
                        + $"but there are {postings.Count}. Reset the index to build it again.");
            if (rank < endRank)
                return block;
        }
    }

    /// <summary>
    /// The positions of the block that begins at a rank, and for a segment of one window the number of its postings.
    /// </summary>
    private ReadOnlySpan<byte> Block(int rank, out int count)
    {
        ReadOnlySpan<byte> value = blocks.Read(listId, segment, rank, out count);
        if (segmentWindows == 1)
            return value[sizeof(ushort)..];
        int table = segmentWindows * sizeof(ushort), index = windowIndex * sizeof(ushort), next = index + sizeof(ushort);
        int start = BinaryPrimitives.ReadUInt16LittleEndian(value[index..]);
        return next < table
            ? value[(table + start)..(table + BinaryPrimitives.ReadUInt16LittleEndian(value[next..]))]
            : value[(table + start)..];
    }
}
