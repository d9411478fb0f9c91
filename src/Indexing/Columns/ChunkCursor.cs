using System.Diagnostics;
using Treepie.Indexing.Catalogue;
using Treepie.Storage.Memory;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Columns;

/// <summary>
/// Goes from chunk to chunk of a column: by number within a leaf, by a step where the next leaf begins with the wanted one, by a
/// seek otherwise.
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
    /// The bytes of the chunk, empty if there is none. They live as long as the read transaction; in a write transaction, until
    /// its next change of the column, after which another chunk is asked for.
    /// </summary>
    public ReadOnlySpan<byte> Read(long chunk)
    {
        if (chunk != current)
            Find(chunk);
        Debug.Assert(!isThere || cursor!.IsValid, "what was found is gone with a change"); // found by it
        return found.Span;
    }

    /// <summary>
    /// The leaf that a chunk is in, where all chunks between its first and its last are there, for who goes along them: each is
    /// found by its number less the first. It lives as what <see cref="Read"/> gives.
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
                cursor!.PrefetchNextLeaf(); // it found the leaf
        }

        if (leafCount == 0)
            return false;
        leaf = cursor!.Entries(keyRoom); // it found the leaf
        return true;
    }

    /// <summary>
    /// Begins to bring the leaf behind that of the chunk read last, which was there, into the caches, once for each.
    /// </summary>
    public void PrefetchNextLeaf() => cursor!.PrefetchNextLeafOnce(); // it found one

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
    /// Looks for a chunk outside of the leaf. Columns have hardly any gaps: within a leaf a chunk is found by its number, without
    /// a look at keys.
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

    /// <summary>Forgets the chunk it has found, as its page may go: it finds it again when it is asked.</summary>
    public void ForgetPages()
    {
        current = -1;
        isThere = false;
        leafCount = 0;
    }

    public void Dispose() => cursor?.Dispose();
}
