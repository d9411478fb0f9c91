using System.Diagnostics;
using Treepie.Indexing.Catalogue;
using Treepie.Storage.Memory;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Columns;

/// <summary>
/// Moves between the chunks of a column: by number within a leaf, by one step if the next leaf starts with the requested
/// chunk, and otherwise by a seek.
/// </summary>
internal sealed class ChunkCursor(Tree? column, QueryMeter? meter = null) : IHoldsPages
{
    private readonly Cursor? _cursor = column?.OpenCursor();
    private long _current = -1;
    private bool _isThere;
    private HeldBytes _found;
    private readonly byte[] _keyRoom = new byte[EntryKey.Bytes];
    private long _leafFirst;
    private int _leafCount;

    /// <summary>
    /// Returns the bytes of the chunk; empty if it does not exist. Valid as long as the read transaction; in a write
    /// transaction until the next change of the column, after which another chunk must be read first.
    /// </summary>
    public ReadOnlySpan<byte> Read(long chunk)
    {
        if (chunk != _current)
            Find(chunk);
        Debug.Assert(!_isThere || _cursor!.IsValid, "a chunk is not read after a change"); // a chunk was found by the cursor
        return _found.Span;
    }

    /// <summary>
    /// Returns the leaf of a chunk, if no chunk is missing between its first and last, for callers that scan. A chunk's
    /// index in the leaf is its number minus <paramref name="first"/>. Valid like the result of <see cref="Read"/>.
    /// </summary>
    public bool TryReadLeaf(long chunk, out LeafEntries leaf, out long first)
    {
        leaf = default;
        first = _leafFirst;
        if (chunk < _leafFirst || chunk >= _leafFirst + _leafCount)
        {
            Read(chunk);
            first = _leafFirst;
            if (_leafCount > 0)
                _cursor!.PrefetchNextLeaf(); // the cursor found the leaf
        }

        if (_leafCount == 0)
            return false;
        Debug.Assert(chunk >= _leafFirst && chunk < _leafFirst + _leafCount, "the leaf contains the chunk");
        leaf = _cursor!.Entries(_keyRoom); // the cursor found the leaf
        return true;
    }

    /// <summary>Prefetches the leaf after that of the chunk read last, which must exist. Does so once per leaf.</summary>
    public void PrefetchNextLeaf() => _cursor!.PrefetchNextLeafOnce(); // the cursor found the chunk read last

    private void Find(long chunk)
    {
        if (_cursor is null)
            return;

        ReadOnlySpan<byte> value = default;
        long place = chunk - _leafFirst;
        if (place >= 0 && place < _leafCount)
            value = _cursor.MoveTo((int)place);
        else
            _isThere = TrySeek(_cursor, chunk, out value);
        _current = chunk;
        _found = new HeldBytes(value);
        if (meter is not null)
        {
            meter.Count.BlocksDecoded++;
            meter.Count.BytesDecoded += value.Length;
        }
    }

    /// <summary>
    /// Seeks a chunk outside the current leaf. Columns have hardly any gaps, so within a leaf without gaps a chunk is found
    /// by its number, without reading keys.
    /// </summary>
    private bool TrySeek(Cursor cursor, long chunk, out ReadOnlySpan<byte> value)
    {
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, chunk);
        _leafCount = 0;
        if (!(_isThere && chunk == _current + 1 && cursor.MoveNext(key, out value))
            && !(cursor.Seek(key) && cursor.IsAt(key, out value)))
        {
            value = default;
            return false;
        }

        _leafFirst = cursor.NumbersOfLeaf(out int count);
        _leafCount = _leafFirst < 0 ? 0 : count;
        return true;
    }

    /// <summary>Drops the current chunk because its page may be released; the next read finds it again.</summary>
    public void ForgetPages()
    {
        _current = -1;
        _isThere = false;
        _leafCount = 0;
    }

    public void Dispose() => _cursor?.Dispose();
}
