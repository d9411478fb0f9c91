using System.Numerics;

namespace Treepie.Indexing.Sorting;

/// <summary>Sort keys in blocks, without an object each: the first block is small, as most queries keep a page of hits.</summary>
internal sealed class KeyArena
{
    private const int FirstBlockBytes = 2 * 1024;
    private const int MaxBlockBytes = 1 << PlaceBits;
    private const int PlaceBits = 20;

    /// <summary>Blocks at the most: 1 GiB.</summary>
    private const int MaxBlocks = 1 << 10;

    private readonly List<byte[]> blocks = [new byte[FirstBlockBytes]];
    private int used;

    public ReadOnlySpan<byte> this[long place, int length] => Block(place).AsSpan((int)(place & (MaxBlockBytes - 1)), length);

    /// <summary>Drops all keys, and all memory but the first block.</summary>
    public void Clear()
    {
        blocks.RemoveRange(1, blocks.Count - 1);
        used = 0;
    }

    /// <summary>Adds a key; returns its place.</summary>
    public long Add(ReadOnlySpan<byte> key) => Add(key, key.Length);

    /// <summary>
    /// Puts a key where a dropped one was if that had the room, else elsewhere with room to spare: the memory of dropped
    /// keys stays below that of the kept ones.
    /// </summary>
    public long Replace(long place, ref int capacity, ReadOnlySpan<byte> key)
    {
        if (key.Length > capacity)
        {
            capacity = (int)BitOperations.RoundUpToPowerOf2((uint)key.Length);
            return Add(key, capacity);
        }

        key.CopyTo(Block(place).AsSpan((int)(place & (MaxBlockBytes - 1))));
        return place;
    }

    private long Add(ReadOnlySpan<byte> key, int capacity)
    {
        if (blocks[^1].Length - used < capacity)
        {
            if (blocks.Count == MaxBlocks)
                throw new IndexQueryException(
                    $"To be put in order, the hits have more than {(long)MaxBlocks * MaxBlockBytes:N0} bytes of sort keys. "
                        + $"Narrow the condition, limit the results, or order by shorter values.");
            blocks.Add(new byte[Math.Max(Math.Min(blocks[^1].Length * 4, MaxBlockBytes), capacity)]);
            used = 0;
        }

        key.CopyTo(blocks[^1].AsSpan(used));
        long place = ((long)(blocks.Count - 1) << PlaceBits) + used;
        used += capacity;
        return place;
    }

    private byte[] Block(long place) => blocks[(int)(place >> PlaceBits)];
}
