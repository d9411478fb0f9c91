namespace Treepie.Indexing.Columns;

/// <summary>Reads chunks of a column for one query, in any order. A chunk that is asked for again at once is counted once.</summary>
/// <param name="places">Where they lie.</param>
/// <param name="meter">Counts them.</param>
internal sealed class ChunkReader(ChunkPlaces places, QueryMeter meter)
{
    private long current = -1;

    /// <summary>The bytes of the chunk, empty if there is none. They live as long as the read transaction.</summary>
    public ReadOnlySpan<byte> Read(long chunk)
    {
        ReadOnlySpan<byte> bytes = places.Read(chunk);
        if (chunk != current)
        {
            current = chunk;
            places.Visit();
            meter.Count.BlocksDecoded++;
            meter.Count.BytesDecoded += bytes.Length;
        }

        return bytes;
    }
}
