using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Terms;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Reads the positions of some entries in several windows of a long list as masks; see <see cref="PositionKernels"/>. All of
/// them are located and prefetched before the first is read, so that the cache misses overlap.
/// </summary>
internal sealed class PositionBatch : IReusable
{
    /// <summary>Most entries located at once.</summary>
    private const int Together = 128;

    /// <summary>
    /// Up to this many entries, each rank is computed on its own instead of first counting the postings before every block.
    /// </summary>
    private const int FewEntries = 2;

    /// <summary>Longest block that is prefetched as a whole.</summary>
    private const int ShortBlock = 512;

    private int[] _starts = new int[Together];
    private int[] _counts = new int[Together];
    private Run[] _runs = new Run[16];
    private int _entryCount;
    private int _runCount;

    public void Clear() => _entryCount = _runCount = 0;

    /// <summary>
    /// Locates and prefetches the positions of ascending entries of a window. All entries must be among the postings.
    /// </summary>
    /// <param name="blocks">The blocks of positions.</param>
    /// <param name="listId">The list.</param>
    /// <param name="window">The window.</param>
    /// <param name="entries">The entries.</param>
    /// <exception cref="CorruptionException">The blocks are not those of the postings.</exception>
    [SkipLocalsInit]
    public void Locate(PositionPlaces blocks, long listId, in HeldWindow window, ReadOnlySpan<ushort> entries)
    {
        Reserve(entries.Length);
        PostingWindow postings = window.Postings;
        Span<ushort> before = stackalloc ushort[PostingWindow.Blocks], ranks = stackalloc ushort[Together];
        bool isFew = entries.Length <= FewEntries && postings.Form == WindowSetForm.Bits,
            isCounted = !isFew && postings.TryCountBefore(before);
        var sums = new FrequencySums(postings, stackalloc int[FrequencySums.ScratchLength]);
        int endRank = 0, firstStart = 0, length = 0, rank = 0;
        ValuePlace place = default;
        ReadOnlySpan<byte> expected = default;
        for (; !entries.IsEmpty; entries = entries[Math.Min(Together, entries.Length)..])
        {
            int count = Math.Min(Together, entries.Length);
            if (isFew)
                postings.CopyRanks(entries[..count], ranks);
            else if (isCounted)
                postings.CopyRanks(entries[..count], before, ranks);
            else
                rank = postings.CopyRanks(entries[..count], rank, ranks);
            Span<int> mine = _starts.AsSpan(_entryCount, count);
            for (int i = 0, end; i < count; i = end)
            {
                if (ranks[i] >= endRank)
                {
                    place = Seek(blocks, listId, window, ranks[i], ref endRank, out int firstRank);
                    sums.Reach(endRank);
                    firstStart = sums.Before(firstRank);
                    length = sums.Before(endRank) - firstStart;
                    expected = Ask(blocks.Expect(place), window.SegmentWindows);
                }

                for (end = i + 1; end < count && ranks[end] < endRank;)
                    end++;
                sums.Locate(ranks[i..end], mine[i..end], _counts.AsSpan(_entryCount + i, end - i));
                foreach (ref int start in mine[i..end])
                {
                    start -= firstStart;
                    if (start < expected.Length)
                        PrefetchKernels.Prefetch(in expected[start]);
                }

                Add(new Run(place, length, end - i, window.SegmentWindows, window.WindowIndex));
            }

            _entryCount += count;
        }
    }

    /// <summary>Reads the masks of all located entries, in that order, and clears the batch.</summary>
    public void ReadMasks(PositionPlaces blocks, Span<ulong> masks, Span<byte> isLong)
    {
        Debug.Assert(masks.Length >= _entryCount && isLong.Length >= _entryCount, "each located entry gets a mask");
        int entry = 0;
        foreach (ref readonly Run run in _runs.AsSpan(0, _runCount))
        {
            ReadOnlySpan<byte> block = run.PartOf(blocks.ReadAt(run.Place));
            ReadOnlySpan<int> from = _starts.AsSpan(entry, run.Count), of = _counts.AsSpan(entry, run.Count);
            if (block.Length == run.Length)
                PositionKernels.Masks(block, from, 0, of, masks.Slice(entry, run.Count), isLong.Slice(entry, run.Count));
            else
                ReadLongMasks(block, from, of, masks.Slice(entry, run.Count), isLong.Slice(entry, run.Count));
            entry += run.Count;
        }

        Debug.Assert(entry == _entryCount, "each located entry was read");
        Clear();
    }

    /// <summary>Like <see cref="PositionKernels.Masks"/>, for blocks in which some numbers take more than one byte.</summary>
    private static void ReadLongMasks(
        ReadOnlySpan<byte> rest, ReadOnlySpan<int> starts, ReadOnlySpan<int> counts, Span<ulong> masks, Span<byte> isLong)
    {
        for (int i = 0, next = 0; i < starts.Length; i++)
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

    /// <summary>Moves forward to the block that contains a rank of a window.</summary>
    private static ValuePlace Seek(
        PositionPlaces blocks, long listId, in HeldWindow window, int rank, ref int endRank, out int firstRank)
    {
        while (true)
        {
            firstRank = endRank;
            ValuePlace place = blocks.PlaceOf(listId, window.Segment, firstRank, out int postings);
            endRank = window.SegmentWindows > 1 ? window.Count : firstRank + postings;
            if (endRank == firstRank || endRank > window.Count)
                throw new CorruptionException(
                    $"A block of the positions of list {listId} in window {window.Segment} is of {postings} postings from "
                        + $"{firstRank} on, but there are {window.Count}. Reset the index to build it again.");
            if (rank < endRank)
                return place;
        }
    }

    /// <summary>
    /// Returns the bytes of a block from which single positions will be read, or an empty span if there are none to
    /// prefetch: a block of several windows is short and starts with a table of offsets, so it is prefetched here as a
    /// whole.
    /// </summary>
    private static ReadOnlySpan<byte> Ask(ReadOnlySpan<byte> block, int windows)
    {
        if (windows == 1)
            return block.Length > sizeof(ushort) ? block[sizeof(ushort)..] : default;
        PrefetchKernels.Prefetch(block[..Math.Min(block.Length, ShortBlock)]);
        return default;
    }

    private void Add(Run run)
    {
        if (_runCount == _runs.Length)
            Array.Resize(ref _runs, _runCount * 2);
        _runs[_runCount++] = run;
    }

    private void Reserve(int more)
    {
        if (_starts.Length - _entryCount >= more)
            return;
        int room = Math.Max(_starts.Length * 2, _entryCount + more);
        Array.Resize(ref _starts, room);
        Array.Resize(ref _counts, room);
    }

    /// <summary>Entries whose positions lie in one block.</summary>
    /// <param name="Place">The block.</param>
    /// <param name="Length">Length of the window's positions in it if each takes one byte.</param>
    /// <param name="Count">The entries.</param>
    /// <param name="Windows">Windows of the segment; if more than one, the block starts with a table of where the positions
    /// of each window begin, see <see cref="PositionKey"/>.</param>
    /// <param name="Index">The index of the window among them.</param>
    private readonly record struct Run(ValuePlace Place, int Length, int Count, int Windows, int Index)
    {
        /// <summary>The positions of the window in a block.</summary>
        public ReadOnlySpan<byte> PartOf(ReadOnlySpan<byte> block)
        {
            if (Windows == 1)
                return block[sizeof(ushort)..];
            int table = Windows * sizeof(ushort), index = Index * sizeof(ushort), next = index + sizeof(ushort);
            int start = BinaryPrimitives.ReadUInt16LittleEndian(block[index..]);
            return next < table
                ? block[(table + start)..(table + BinaryPrimitives.ReadUInt16LittleEndian(block[next..]))]
                : block[(table + start)..];
        }
    }
}
