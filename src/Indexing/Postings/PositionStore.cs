using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Reads, writes and removes the positions of whole segments. Reusable for one dictionary after another.
/// </summary>
internal sealed class PositionStore
{
    private string _name = "";
    private Tree _tree = null!; // Begin sets tree and cursor before any use
    private Cursor _cursor = null!;
    private readonly List<int> _ranks = [];
    private byte[] _scratch = new byte[4_096];
    private int _tableBytes;
    private int _length;

    /// <summary>For a loaded segment of one window: the first rank of its last block, and where that block begins.</summary>
    private int _lastRank;
    private int _lastStart;

    /// <summary>Switches to another dictionary.</summary>
    public void Begin(string dictionary, Tree positions)
    {
        _name = dictionary;
        _tree = positions;
        _cursor = positions.OpenCursor();
    }

    /// <summary>Loads the positions of a segment; <see cref="WindowAt"/> returns them until the next call.</summary>
    public void Load(long listId, PostingSegment segment)
    {
        _length = 0;
        _tableBytes = segment.Count > 1 ? segment.Count * sizeof(ushort) : 0;
        GoToFirst(listId, segment.FirstWindow);
        for (bool found = true; found; found = _cursor.MoveNext() && PositionKey.IsOf(_cursor.Key, listId, segment.FirstWindow))
        {
            ReadOnlySpan<byte> block = segment.Count > 1 ? _cursor.Value : _cursor.Value[sizeof(ushort)..];
            if (_scratch.Length < _length + block.Length)
                Array.Resize(ref _scratch, Math.Max(_length + block.Length, _scratch.Length * 2));
            (_lastRank, _lastStart) = (PositionKey.Rank(_cursor.Key), _length);
            block.CopyTo(_scratch.AsSpan(_length));
            _length += block.Length;
        }
    }

    /// <summary>Positions of one window of the segment loaded last.</summary>
    public ReadOnlySpan<byte> WindowAt(int index)
    {
        Debug.Assert(
            _tableBytes == 0 ? index == 0 : index >= 0 && index * sizeof(ushort) < _tableBytes,
            "the window is of the loaded segment");
        ReadOnlySpan<byte> all = _scratch.AsSpan(0, _length);
        if (_tableBytes == 0)
            return all;

        int start = BinaryPrimitives.ReadUInt16LittleEndian(all[(index * sizeof(ushort))..]);
        int next = (index + 1) * sizeof(ushort);
        int end = next < _tableBytes ? BinaryPrimitives.ReadUInt16LittleEndian(all[next..]) : _length - _tableBytes;
        return all[(_tableBytes + start)..(_tableBytes + end)];
    }

    /// <summary>The positions of a segment of several windows, in place; valid until positions are written.</summary>
    public PositionBlock BlockOf(long listId, PostingSegment segment)
    {
        Debug.Assert(segment.Count > 1, "only a segment of several windows is one block");
        GoToFirst(listId, segment.FirstWindow);
        return new PositionBlock(_cursor.Value, segment.Count);
    }

    /// <summary>Removes the positions of a segment.</summary>
    public void Delete(long listId, long firstWindow)
    {
        _ranks.Clear();
        for (bool found = SeekFirst(listId, firstWindow);
             found;
             found = _cursor.MoveNext() && PositionKey.IsOf(_cursor.Key, listId, firstWindow))
            _ranks.Add(PositionKey.Rank(_cursor.Key));

        Span<byte> key = stackalloc byte[PositionKey.Bytes];
        foreach (int rank in _ranks)
        {
            PositionKey.Write(key, listId, firstWindow, rank);
            _tree.Delete(key);
        }
    }

    /// <summary>Writes the block of a segment of several windows.</summary>
    public void PutBlock(long listId, long firstWindow, ReadOnlySpan<byte> block)
    {
        Span<byte> key = stackalloc byte[PositionKey.Bytes];
        PositionKey.Write(key, listId, firstWindow, 0);
        _tree.Put(key, block);
    }

    /// <summary>
    /// Writes the positions of a segment of one window, in blocks. If <paramref name="isAppended"/>, they extend those loaded
    /// last, and full blocks are not rewritten.
    /// </summary>
    public void PutWindow(
        long listId, long firstWindow, PostingWindow window, ReadOnlySpan<byte> positions, bool isAppended = false)
    {
        Debug.Assert(window.Count > 0, "a window has postings");
        int first = isAppended ? _lastRank : 0;
        int start = isAppended ? _lastStart : 0;
        int end = start;
        var frequencies = new FrequencyReader(window);
        for (int rank = first; rank < window.Count; rank++)
        {
            int bytes = VarintKernels.Skip(positions[end..], frequencies.At(rank));
            if (rank > first && end + bytes - start > PositionKey.MaxBlockBytes - sizeof(ushort))
            {
                PutPart(listId, firstWindow, first, rank - first, positions[start..end]);
                first = rank;
                start = end;
            }

            end += bytes;
        }

        Debug.Assert(end == positions.Length, "a window has the positions of its postings and no others");
        PutPart(listId, firstWindow, first, window.Count - first, positions[start..end]);
    }

    private void PutPart(long listId, long firstWindow, int rank, int count, ReadOnlySpan<byte> positions)
    {
        Debug.Assert(count > 0, "a block has postings");
        if (_scratch.Length < positions.Length + sizeof(ushort))
            _scratch = new byte[positions.Length * 2];
        BinaryPrimitives.WriteUInt16LittleEndian(_scratch, (ushort)count);
        positions.CopyTo(_scratch.AsSpan(sizeof(ushort)));
        _length = 0;
        Span<byte> key = stackalloc byte[PositionKey.Bytes];
        PositionKey.Write(key, listId, firstWindow, rank);
        _tree.Put(key, _scratch.AsSpan(0, positions.Length + sizeof(ushort)));
    }

    private void GoToFirst(long listId, long firstWindow)
    {
        if (!SeekFirst(listId, firstWindow))
            throw new CorruptionException(
                $"The index tree '{_name}' misses the positions of list {listId} from window {firstWindow} on. Reset the index "
                + $"to "
                    + $"build it again.");
    }

    private bool SeekFirst(long listId, long firstWindow)
    {
        Span<byte> key = stackalloc byte[PositionKey.Bytes];
        PositionKey.Write(key, listId, firstWindow, 0);
        return _cursor.Seek(key) && PositionKey.IsOf(_cursor.Key, listId, firstWindow);
    }
}
