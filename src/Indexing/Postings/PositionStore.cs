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
    private string name = "";
    private Tree tree = null!; // Begin sets tree and cursor before any use
    private Cursor cursor = null!;
    private readonly List<int> ranks = [];
    private byte[] scratch = new byte[4_096];
    private int tableBytes;
    private int length;

    /// <summary>For a loaded segment of one window: the first rank of its last block, and where that block begins.</summary>
    private int lastRank;
    private int lastStart;

    /// <summary>Switches to another dictionary.</summary>
    public void Begin(string dictionary, Tree positions)
    {
        name = dictionary;
        tree = positions;
        cursor = positions.OpenCursor();
    }

    /// <summary>Loads the positions of a segment; <see cref="WindowAt"/> returns them until the next call.</summary>
    public void Load(long listId, PostingSegment segment)
    {
        length = 0;
        tableBytes = segment.Count > 1 ? segment.Count * sizeof(ushort) : 0;
        GoToFirst(listId, segment.FirstWindow);
        for (bool found = true; found; found = cursor.MoveNext() && PositionKey.IsOf(cursor.Key, listId, segment.FirstWindow))
        {
            ReadOnlySpan<byte> block = segment.Count > 1 ? cursor.Value : cursor.Value[sizeof(ushort)..];
            if (scratch.Length < length + block.Length)
                Array.Resize(ref scratch, Math.Max(length + block.Length, scratch.Length * 2));
            (lastRank, lastStart) = (PositionKey.Rank(cursor.Key), length);
            block.CopyTo(scratch.AsSpan(length));
            length += block.Length;
        }
    }

    /// <summary>Positions of one window of the segment loaded last.</summary>
    public ReadOnlySpan<byte> WindowAt(int index)
    {
        ReadOnlySpan<byte> all = scratch.AsSpan(0, length);
        if (tableBytes == 0)
            return all;

        int start = BinaryPrimitives.ReadUInt16LittleEndian(all[(index * sizeof(ushort))..]);
        int next = (index + 1) * sizeof(ushort);
        int end = next < tableBytes ? BinaryPrimitives.ReadUInt16LittleEndian(all[next..]) : length - tableBytes;
        return all[(tableBytes + start)..(tableBytes + end)];
    }

    /// <summary>The positions of a segment of several windows, in place; valid until positions are written.</summary>
    public PositionBlock BlockOf(long listId, PostingSegment segment)
    {
        Debug.Assert(segment.Count > 1, "only a segment of several windows is one block");
        GoToFirst(listId, segment.FirstWindow);
        return new PositionBlock(cursor.Value, segment.Count);
    }

    /// <summary>Removes the positions of a segment.</summary>
    public void Delete(long listId, long firstWindow)
    {
        ranks.Clear();
        for (bool found = SeekFirst(listId, firstWindow);
             found;
             found = cursor.MoveNext() && PositionKey.IsOf(cursor.Key, listId, firstWindow))
            ranks.Add(PositionKey.Rank(cursor.Key));

        Span<byte> key = stackalloc byte[PositionKey.Bytes];
        foreach (int rank in ranks)
        {
            PositionKey.Write(key, listId, firstWindow, rank);
            tree.Delete(key);
        }
    }

    /// <summary>Writes the block of a segment of several windows.</summary>
    public void PutBlock(long listId, long firstWindow, ReadOnlySpan<byte> block)
    {
        Span<byte> key = stackalloc byte[PositionKey.Bytes];
        PositionKey.Write(key, listId, firstWindow, 0);
        tree.Put(key, block);
    }

    /// <summary>
    /// Writes the positions of a segment of one window, in blocks. If <paramref name="isAppended"/>, they extend those loaded
    /// last, and full blocks are not rewritten.
    /// </summary>
    public void PutWindow(
        long listId, long firstWindow, PostingWindow window, ReadOnlySpan<byte> positions, bool isAppended = false)
    {
        int first = isAppended ? lastRank : 0;
        int start = isAppended ? lastStart : 0;
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
        if (scratch.Length < positions.Length + sizeof(ushort))
            scratch = new byte[positions.Length * 2];
        BinaryPrimitives.WriteUInt16LittleEndian(scratch, (ushort)count);
        positions.CopyTo(scratch.AsSpan(sizeof(ushort)));
        length = 0;
        Span<byte> key = stackalloc byte[PositionKey.Bytes];
        PositionKey.Write(key, listId, firstWindow, rank);
        tree.Put(key, scratch.AsSpan(0, positions.Length + sizeof(ushort)));
    }

    private void GoToFirst(long listId, long firstWindow)
    {
        if (!SeekFirst(listId, firstWindow))
            throw new CorruptionException(
                $"The index tree '{name}' misses the positions of list {listId} from window {firstWindow} on. Reset the index to "
                    + $"build it again.");
    }

    private bool SeekFirst(long listId, long firstWindow)
    {
        Span<byte> key = stackalloc byte[PositionKey.Bytes];
        PositionKey.Write(key, listId, firstWindow, 0);
        return cursor.Seek(key) && PositionKey.IsOf(cursor.Key, listId, firstWindow);
    }
}
