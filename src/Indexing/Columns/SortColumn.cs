using Treepie.Storage.Trees;

namespace Treepie.Indexing.Columns;

/// <summary>The sort values of one field, chunk by chunk, wherever these lie.</summary>
/// <param name="chunks">Chunks by number.</param>
/// <param name="blocks">Blocks of texts; null: the field never had one.</param>
internal sealed class SortColumn(ChunkCursor chunks, ChunkCursor? blocks)
{
    private const int ChunkBits = TextBlock.EntryBits - SortChunk.EntryBits;

    /// <summary>A chunk; it lives as what <see cref="ChunkCursor.Read"/> gives.</summary>
    public SortChunk Read(long chunk)
    {
        if (blocks is not null && blocks.Read(chunk >> ChunkBits) is { IsEmpty: false } block)
            return new SortChunk(block, 1 + (int)(chunk & (TextBlock.Chunks - 1)));
        return new SortChunk(chunks.Read(chunk));
    }

    /// <summary>As <see cref="ChunkCursor.TryReadLeaf"/>: false where there may be blocks, too.</summary>
    public bool TryReadLeaf(long chunk, out LeafEntries leaf, out long first)
    {
        if (blocks is null)
            return chunks.TryReadLeaf(chunk, out leaf, out first);
        leaf = default;
        first = 0;
        return false;
    }

    /// <summary>A block of texts; false where its entries have chunks, or no values.</summary>
    public bool TryReadBlock(long block, out TextBlock found)
    {
        ReadOnlySpan<byte> bytes = blocks is null ? default : blocks.Read(block);
        found = new TextBlock(bytes);
        return !bytes.IsEmpty;
    }
}
