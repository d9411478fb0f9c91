using System.Buffers.Binary;
using System.Runtime.CompilerServices;
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
    private long standsOn = -1;
    private int blockFirst;
    private int blockEnd;
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
                    Seek(postings, ranks[i]);
                    block = Block();
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
            Seek(postings, endRank);
            if (!places.TryAdd(Block()))
                return false;
        }

        return places.IsWhole(postings.Count);
    }

    public void Dispose() => cursor.Dispose();

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

    /// <summary>Goes to the block that holds a rank: it stands there, or some steps before, where they are asked for in order.</summary>
    private void Seek(PostingWindow postings, int rank)
    {
        const int FewSteps = 4;
        Span<byte> key = stackalloc byte[PositionKey.Bytes];
        PositionKey.Write(key, listId, segment, segmentWindows > 1 ? 1 : rank + 1);
        bool isThere = cursor.IsValid && standsOn == segment && (segmentWindows > 1 || rank >= blockFirst);
        for (int steps = 0; isThere && segmentWindows == 1 && rank >= blockEnd; steps++)
        {
            ReadOnlySpan<byte> next = default;
            isThere = steps < FewSteps && cursor.MoveNext(key[..PostingKey.Bytes], out next);
            if (isThere)
                (blockFirst, blockEnd) = (blockEnd, blockEnd + BinaryPrimitives.ReadUInt16LittleEndian(next));
        }

        if (!isThere)
        {
            // The last that begins at or before the rank.
            ReadOnlySpan<byte> value = default;
            standsOn = -1;
            if (!cursor.SeekBefore(key) || !cursor.IsAt(key[..PostingKey.Bytes], out value))
                throw new CorruptionException($"The index misses the positions of list {listId} from window {segment} on. Reset the index to build it again.");
            standsOn = segment;
            blockFirst = PositionKey.Rank(cursor.Key);
            blockEnd = segmentWindows > 1 ? 0 : blockFirst + BinaryPrimitives.ReadUInt16LittleEndian(value);
        }

        firstRank = blockFirst;
        endRank = segmentWindows > 1 ? postings.Count : blockEnd;
        nextRank = firstRank;
        place = 0;
    }

    /// <summary>The positions of the block, from its first rank on.</summary>
    private ReadOnlySpan<byte> Block()
    {
        ReadOnlySpan<byte> value = cursor.Value;
        if (segmentWindows == 1)
            return value[sizeof(ushort)..];
        int table = segmentWindows * sizeof(ushort), index = windowIndex * sizeof(ushort), next = index + sizeof(ushort);
        int start = BinaryPrimitives.ReadUInt16LittleEndian(value[index..]);
        return next < table ? value[(table + start)..(table + BinaryPrimitives.ReadUInt16LittleEndian(value[next..]))] : value[(table + start)..];
    }
}
