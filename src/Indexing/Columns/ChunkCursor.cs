using System.Diagnostics;
using Treepie.Indexing.Catalogue;
using Treepie.Storage.Memory;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Columns;

/// <summary>
/// Moves between the chunks of a column: by number within a leaf, by one step if the next leaf starts with the wanted chunk,
/// otherwise by a seek.
/// </summary>
internal sealed class ChunkCursor(Tree? column, QueryMeter? meter = null) : IHoldsPages
{
    private readonly Cursor? cursor = column?.OpenCursor();
    private long current = -1;
    private bool isThere;
    private HeldBytes found;
    private readonly byte[] keyRoom = new byte[EntryKey.Bytes];
    private long leafFirst;
    private int leafCount;

    /// <summary>
    /// The bytes of the chunk; empty if it does not exist. Valid as long as the read transaction; in a write transaction until
    /// the next change of the column, after which another chunk must be read first.
    /// </summary>
    public ReadOnlySpan<byte> Read(long chunk)
    {
        if (chunk != current)
            Find(chunk);
        Debug.Assert(!isThere || cursor!.IsValid, "a chunk is not read after a change"); // a chunk was found by the cursor
        return found.Span;
    }

    /// <summary>
    /// The leaf of a chunk, if it has no gaps between its first and last chunk, for callers that scan: a chunk's index in the
    /// leaf is its number minus <paramref name="first"/>. Valid like the result of <see cref="Read"/>.
    /// </summary>
    public bool TryReadLeaf(long chunk, out LeafEntries leaf, out long first)
    {
        leaf = default;
        first = leafFirst;
        if (chunk < leafFirst || chunk >= leafFirst + leafCount)
        {
            Read(chunk);
            first = leafFirst;
            if (leafCount > 0)
                cursor!.PrefetchNextLeaf(); // the cursor found the leaf
        }

        if (leafCount == 0)
            return false;
        Debug.Assert(chunk >= leafFirst && chunk < leafFirst + leafCount, "the leaf contains the chunk");
        leaf = cursor!.Entries(keyRoom); // the cursor found the leaf
        return true;
    }

    /// <summary>
    /// Prefetches the leaf after that of the chunk read last, which must exist; once per leaf.
    /// </summary>
    public void PrefetchNextLeaf() => cursor!.PrefetchNextLeafOnce(); // the cursor found the chunk read last

    private void Find(long chunk)
    {
        if (cursor is null)
            return;

        ReadOnlySpan<byte> value = default;
        long place = chunk - leafFirst;
        if (place >= 0 && place < leafCount)
            value = cursor.MoveTo((int)place);
        else
            isThere = TrySeek(cursor, chunk, out value);
        current = chunk;
        found = new HeldBytes(value);
        if (meter is not null)
        {
            meter.Count.BlocksDecoded++;
            meter.Count.BytesDecoded += value.Length;
        }
    }

    /// <summary>
    /// Seeks a chunk outside the current leaf. Columns have hardly any gaps, so within a leaf a chunk is found by its number,
    /// without reading keys.
    /// </summary>
    private bool TrySeek(Cursor cursor, long chunk, out ReadOnlySpan<byte> value)
    {
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, chunk);
        leafCount = 0;
        if (!(isThere && chunk == current + 1 && cursor.MoveNext(key, out value))
            && !(cursor.Seek(key) && cursor.IsAt(key, out value)))
        {
            value = default;
            return false;
        }

        leafFirst = cursor.NumbersOfLeaf(out int count);
        leafCount = leafFirst < 0 ? 0 : count;
        return true;
    }

    /// <summary>Drops the current chunk, because its page may go away; the next read finds it again.</summary>
    public void ForgetPages()
    {
        current = -1;
        isThere = false;
        leafCount = 0;
    }

    public void Dispose() => cursor?.Dispose();
}
