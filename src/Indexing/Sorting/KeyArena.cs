using System.Diagnostics;
using System.Numerics;

namespace Treepie.Indexing.Sorting;

/// <summary>
/// Stores sort keys in blocks, without an object per key. The first block is small, because most queries keep a page of
/// hits.
/// </summary>
internal sealed class KeyArena
{
    private const int FirstBlockBytes = 2 * 1024;
    private const int MaxBlockBytes = 1 << PlaceBits;
    private const int PlaceBits = 20;

    /// <summary>Maximum number of blocks: 1 GiB.</summary>
    private const int MaxBlocks = 1 << 10;

    private readonly List<byte[]> _blocks = [new byte[FirstBlockBytes]];
    private int _used;

    public ReadOnlySpan<byte> this[long place, int length] => Block(place).AsSpan((int)(place & (MaxBlockBytes - 1)), length);

    /// <summary>Removes all keys, and releases all blocks but the first.</summary>
    public void Clear()
    {
        _blocks.RemoveRange(1, _blocks.Count - 1);
        _used = 0;
    }

    /// <summary>Adds a key; returns its location.</summary>
    public long Add(ReadOnlySpan<byte> key) => Add(key, key.Length);

    /// <summary>
    /// Overwrites a dropped key if the new one fits, otherwise uses a new location with spare capacity, so that dropped keys
    /// take less memory than kept ones.
    /// </summary>
    public long Replace(long place, ref int capacity, ReadOnlySpan<byte> key)
    {
        if (key.Length > capacity)
        {
            capacity = (int)BitOperations.RoundUpToPowerOf2((uint)key.Length);
            Debug.Assert(capacity >= key.Length, "the new place holds the key");
            return Add(key, capacity);
        }

        key.CopyTo(Block(place).AsSpan((int)(place & (MaxBlockBytes - 1))));
        return place;
    }

    private long Add(ReadOnlySpan<byte> key, int capacity)
    {
        if (_blocks[^1].Length - _used < capacity)
        {
            if (_blocks.Count == MaxBlocks)
                throw new IndexQueryException(
                    $"The hits to be sorted have more than {(long)MaxBlocks * MaxBlockBytes:N0} bytes of sort keys. "
                        + $"Narrow the condition, limit the results, or order by shorter values.");
            _blocks.Add(new byte[Math.Max(Math.Min(_blocks[^1].Length * 4, MaxBlockBytes), capacity)]);
            _used = 0;
        }

        key.CopyTo(_blocks[^1].AsSpan(_used));
        Debug.Assert(_used < MaxBlockBytes, "a place has bits for the offset in its block");
        Debug.Assert(_used + capacity <= _blocks[^1].Length, "a key lies in one block");
        long place = ((long)(_blocks.Count - 1) << PlaceBits) + _used;
        _used += capacity;
        return place;
    }

    private byte[] Block(long place) => _blocks[(int)(place >> PlaceBits)];
}
