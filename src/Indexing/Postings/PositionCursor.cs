using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Terms;
using Treepie.Storage;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Reads the positions of postings of one long list. Reading ascending ranks of a window scans its positions once; numbers
/// in between are skipped without decoding. Use one object per term and query.
/// </summary>
internal sealed class PositionCursor(PositionPlaces blocks, long listId)
{
    private int[] _decoded = new int[16];
    private long _window = -1;
    private long _segment;
    private int _windowIndex;
    private int _segmentWindows;
    private int _firstRank;
    private int _endRank;
    private int _nextRank;
    private int _place;

    /// <summary>The positions of the posting at a rank of a window; valid until the next call.</summary>
    public ReadOnlySpan<int> Read(scoped in HeldWindow held, int rank)
    {
        PostingWindow postings = held.Postings;
        if (_window < 0 || held.Segment != _segment || held.WindowIndex != _windowIndex || rank < _firstRank)
        {
            Enter(held);
            _window = _segment;
        }

        bool isOther = rank >= _endRank;
        ReadOnlySpan<byte> bytes = isOther ? Seek(postings, rank) : Block(_firstRank, out _);
        if (isOther || rank < _nextRank)
            (_nextRank, _place) = (_firstRank, 0);
        Debug.Assert(_nextRank >= _firstRank && _nextRank <= rank && rank < _endRank, "the scan stays within the block, forward");
        _place += VarintKernels.Skip(bytes[_place..], postings.SumFrequencies(_nextRank, rank));
        _nextRank = rank;

        int count = postings.Frequency(rank);
        if (_decoded.Length < count)
            _decoded = new int[Math.Max(count, _decoded.Length * 2)];
        ReadOnlySpan<byte> rest = bytes[_place..];
        int last = 0;
        for (int i = 0; i < count; i++)
            _decoded[i] = last += Varint.Read(ref rest);
        _place = bytes.Length - rest.Length;
        _nextRank = rank + 1;
        return _decoded.AsSpan(0, count);
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

            if (rank >= _endRank)
            {
                rest = Seek(postings, rank);
                next = _firstRank;
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

    /// <summary>
    /// Copies the positions of all entries of a window; false if some take more than one byte, or there are too many.
    /// </summary>
    public bool TryCopy(in HeldWindow held, WindowPlaces places)
    {
        Enter(held);
        PostingWindow postings = held.Postings;
        if (!places.TryBegin(postings))
            return false;
        for (_endRank = 0; _endRank < postings.Count;)
        {
            if (!places.TryAdd(Seek(postings, _endRank)))
                return false;
        }

        return places.IsWhole(postings.Count);
    }

    /// <summary>Starts reading a window.</summary>
    private void Enter(in HeldWindow held)
    {
        _window = -1; // the next read of a single posting starts over
        _segment = held.Segment;
        _windowIndex = held.WindowIndex;
        _segmentWindows = held.SegmentWindows;
        _endRank = 0;
    }

    /// <summary>
    /// Moves forward to the block that contains a rank and returns its positions; starts at the first block of the window if
    /// there is no current one.
    /// </summary>
    private ReadOnlySpan<byte> Seek(PostingWindow postings, int rank)
    {
        Debug.Assert(rank >= _endRank, "the scan moves forward");
        while (true)
        {
            _firstRank = _endRank;
            ReadOnlySpan<byte> block = Block(_firstRank, out int count);
            _endRank = _segmentWindows > 1 ? postings.Count : _firstRank + count;
            if (_endRank == _firstRank || _endRank > postings.Count)
                throw new CorruptionException(
                    $"A block of the positions of list {listId} in window {_segment} is of {count} postings from {_firstRank} "
                    + $"on, "
                        + $"but there are {postings.Count}. Reset the index to build it again.");
            if (rank < _endRank)
                return block;
        }
    }

    /// <summary>
    /// Returns the positions of the block that begins at a rank and, for a segment of one window, the number of its
    /// postings.
    /// </summary>
    private ReadOnlySpan<byte> Block(int rank, out int count)
    {
        Debug.Assert((uint)_windowIndex < (uint)_segmentWindows, "the window is one of its segment");
        ReadOnlySpan<byte> value = blocks.Read(listId, _segment, rank, out count);
        if (_segmentWindows == 1)
            return value[sizeof(ushort)..];
        int table = _segmentWindows * sizeof(ushort), index = _windowIndex * sizeof(ushort), next = index + sizeof(ushort);
        int start = BinaryPrimitives.ReadUInt16LittleEndian(value[index..]);
        return next < table
            ? value[(table + start)..(table + BinaryPrimitives.ReadUInt16LittleEndian(value[next..]))]
            : value[(table + start)..];
    }
}
