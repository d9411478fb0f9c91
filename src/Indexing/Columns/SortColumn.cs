using Treepie.Storage.Trees;

namespace Treepie.Indexing.Columns;

/// <summary>The sort values of one field, read chunk by chunk whatever their stored form.</summary>
/// <param name="chunks">Chunks by number.</param>
/// <param name="blocks">Blocks of texts; null if the field never had one.</param>
/// <param name="numbers">Blocks of numbers; null if the field never had one.</param>
internal sealed class SortColumn(ChunkCursor chunks, ChunkCursor? blocks, ChunkCursor? numbers)
{
    private const int ChunkBits = TextBlock.EntryBits - SortChunk.EntryBits;
    private const int NumberChunkBits = NumberBlock.EntryBits - SortChunk.EntryBits;

    /// <summary>Whether it has blocks of numbers.</summary>
    public bool HasNumbers => numbers is not null;

    /// <summary>Reads a chunk; valid like the result of <see cref="ChunkCursor.Read"/>.</summary>
    public SortChunk Read(long chunk)
    {
        if (numbers is not null && numbers.Read(chunk >> NumberChunkBits) is { IsEmpty: false } window)
            return SortChunk.Of(new NumberBlock(window), (int)(chunk & (NumberBlock.Chunks - 1)));
        if (blocks is not null && blocks.Read(chunk >> ChunkBits) is { IsEmpty: false } block)
            return new SortChunk(block, 1 + (int)(chunk & (TextBlock.Chunks - 1)));
        return new SortChunk(chunks.Read(chunk));
    }

    /// <summary>
    /// Reads the numbers of a window; false if its values are in chunks or blocks of texts, or it has no values.
    /// </summary>
    public bool TryReadNumbers(long window, out NumberBlock found)
    {
        ReadOnlySpan<byte> bytes = numbers is null ? default : numbers.Read(window);
        found = bytes.IsEmpty ? default : new NumberBlock(bytes);
        return !bytes.IsEmpty;
    }

    /// <summary>
    /// Like <see cref="ChunkCursor.TryReadLeaf"/>, for a window without a block of numbers; false if the field may have
    /// blocks of texts.
    /// </summary>
    public bool TryReadLeaf(long chunk, out LeafEntries leaf, out long first)
    {
        if (blocks is null)
            return chunks.TryReadLeaf(chunk, out leaf, out first);
        leaf = default;
        first = 0;
        return false;
    }

    /// <summary>Reads a block of texts; false if its entries have chunks or no values.</summary>
    public bool TryReadBlock(long block, out TextBlock found)
    {
        ReadOnlySpan<byte> bytes = blocks is null ? default : blocks.Read(block);
        found = new TextBlock(bytes);
        return !bytes.IsEmpty;
    }

    /// <summary>Like <see cref="TryReadBlock"/>, for scans: also prefetches the next leaf.</summary>
    public bool TryReadBlockAlong(long block, out TextBlock found)
    {
        bool isThere = TryReadBlock(block, out found);
        if (isThere)
            blocks!.PrefetchNextLeaf(); // a block was found, so there are blocks
        return isThere;
    }
}
