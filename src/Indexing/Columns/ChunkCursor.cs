using Treepie.Indexing.Catalogue;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Columns;

/// <summary>Goes from chunk to chunk of a column; a step where the wanted one is next, a seek otherwise.</summary>
internal sealed class ChunkCursor(Tree? column, QueryMeter? meter = null) : IDisposable
{
    private readonly Cursor? cursor = column?.OpenCursor();
    private long current = -1;
    private bool isThere;

    /// <summary>The bytes of the chunk, empty if there is none. They live as long as the read transaction.</summary>
    public ReadOnlySpan<byte> Read(long chunk)
    {
        if (cursor is null)
            return default;

        if (chunk != current)
        {
            Span<byte> key = stackalloc byte[EntryKey.Bytes];
            EntryKey.Write(key, chunk);
            isThere = (isThere && chunk == current + 1 && cursor.MoveNext() && cursor.Key.SequenceEqual(key))
                || (cursor.Seek(key) && cursor.Key.SequenceEqual(key));
            current = chunk;
            if (meter is not null)
            {
                meter.Count.BlocksDecoded++;
                meter.Count.BytesDecoded += isThere ? cursor.Value.Length : 0;
            }
        }

        return isThere ? cursor.Value : default;
    }

    public void Dispose() => cursor?.Dispose();
}
