using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Terms;
using Treepie.Storage;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Reads the positions of postings of one long list. Ascending ranks of a window are read in one walk over its positions; numbers in between are
/// passed over without being decoded. One object per term and query.
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

    /// <summary>The positions of the posting of a rank in the window that <paramref name="list"/> stands on; they live until the next call.</summary>
    public ReadOnlySpan<int> Read(PostingCursor list, PostingWindow postings, int rank)
    {
        if (window < 0 || list.SegmentFirstWindow != segment || list.WindowIndex != windowIndex || rank < firstRank)
        {
            Enter(list);
            window = segment;
        }

        bool isOther = rank >= endRank;
        ReadOnlySpan<byte> bytes = isOther ? Seek(postings, rank) : Block(firstRank, out _);
        if (isOther || rank < nextRank)
            (nextRank, place) = (firstRank, 0);
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
        Enter(list);
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
    /// The positions of several entries of the window that <paramref name="list"/> stands on as masks, see <see cref="PositionKernels"/>. The entries ascend, and all are among the
    /// postings.
    /// </summary>
    [SkipLocalsInit]
    public void ReadMasks(PostingCursor list, PostingWindow postings, ReadOnlySpan<ushort> entries, Span<ulong> masks, Span<byte> isLong)
    {
        const int Batch = 128;
        Enter(list);
        Span<ushort> before = stackalloc ushort[PostingWindow.Blocks], ranks = stackalloc ushort[Batch];
        Span<int> starts = stackalloc int[Batch], counts = stackalloc int[Batch];
        bool isCounted = postings.TryCountBefore(before);
        var sums = new FrequencySums(postings, stackalloc int[FrequencySums.ScratchLength]);
        int firstStart = 0, endStart = 0, rank = 0;
        ReadOnlySpan<byte> block = default;
        for (; !entries.IsEmpty; entries = entries[Math.Min(Batch, entries.Length)..])
        {
            int count = Math.Min(Batch, entries.Length);
            if (isCounted)
                postings.CopyRanks(entries[..count], before, ranks);
            else
                rank = postings.CopyRanks(entries[..count], rank, ranks);
            sums.Locate(ranks[..count], starts, counts);
            for (int i = 0, end; i < count; i = end)
            {
                if (ranks[i] >= endRank)
                {
                    block = Seek(postings, ranks[i]);
                    (firstStart, endStart) = (sums.Before(firstRank), sums.Before(endRank));
                }

                for (end = i + 1; end < count && ranks[end] < endRank;)
                    end++;
                if (block.Length == endStart - firstStart)
                    PositionKernels.Masks(block, starts[i..end], firstStart, counts[i..end], masks[i..end], isLong[i..end]);
                else
                    ReadLongMasks(block, starts[i..end], firstStart, counts[i..end], masks[i..end], isLong[i..end]);
            }

            masks = masks[count..];
            isLong = isLong[count..];
        }
    }

    /// <summary>The positions of all entries of the window that <paramref name="list"/> stands on; false where some take more than a byte, or they are too many.</summary>
    public bool TryCopy(PostingCursor list, PostingWindow postings, WindowPlaces places)
    {
        Enter(list);
        if (!places.TryBegin(postings))
            return false;
        for (endRank = 0; endRank < postings.Count;)
        {
            if (!places.TryAdd(Seek(postings, endRank)))
                return false;
        }

        return places.IsWhole(postings.Count);
    }

    /// <summary>As <see cref="PositionKernels.Masks"/>, where some numbers take more than a byte.</summary>
    private static void ReadLongMasks(ReadOnlySpan<byte> rest, ReadOnlySpan<int> starts, int next, ReadOnlySpan<int> counts, Span<ulong> masks, Span<byte> isLong)
    {
        for (int i = 0; i < starts.Length; i++)
        {
            rest = rest[VarintKernels.Skip(rest, starts[i] - next)..];
            next = starts[i] + counts[i];
            ulong mask = 0;
            int place = 0;
            for (int left = counts[i]; left > 0; left--)
            {
                place += Varint.Read(ref rest);
                mask |= 1UL << place;
            }

            masks[i] = mask;
            isLong[i] = (byte)(place >= PositionKernels.MaskBits ? 1 : 0);
        }
    }

    /// <summary>Begins with a window for those who read several entries at once.</summary>
    private void Enter(PostingCursor list)
    {
        window = -1; // single reads begin anew
        segment = list.SegmentFirstWindow;
        windowIndex = list.WindowIndex;
        segmentWindows = list.SegmentWindows;
        endRank = 0;
    }

    /// <summary>Goes to the block that holds a rank, and gives its positions: from the one it stands on, or from the first of the window where it stands on none.</summary>
    private ReadOnlySpan<byte> Seek(PostingWindow postings, int rank)
    {
        while (true)
        {
            firstRank = endRank;
            ReadOnlySpan<byte> block = Block(firstRank, out int count);
            endRank = segmentWindows > 1 ? postings.Count : firstRank + count;
            if (endRank == firstRank || endRank > postings.Count)
                throw new CorruptionException($"A block of the positions of list {listId} in window {segment} is of {count} postings from {firstRank} on, but there are {postings.Count}. Reset the index to build it again.");
            if (rank < endRank)
                return block;
        }
    }

    /// <summary>The positions of the block that begins at a rank, and what it says of their number where it is of one window.</summary>
    private ReadOnlySpan<byte> Block(int rank, out int count)
    {
        ReadOnlySpan<byte> value = blocks.Read(listId, segment, rank, out count);
        if (segmentWindows == 1)
            return value[sizeof(ushort)..];
        int table = segmentWindows * sizeof(ushort), index = windowIndex * sizeof(ushort), next = index + sizeof(ushort);
        int start = BinaryPrimitives.ReadUInt16LittleEndian(value[index..]);
        return next < table ? value[(table + start)..(table + BinaryPrimitives.ReadUInt16LittleEndian(value[next..]))] : value[(table + start)..];
    }
}
