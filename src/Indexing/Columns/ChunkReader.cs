using Treepie.Storage.Memory;

namespace Treepie.Indexing.Columns;

/// <summary>
/// Reads chunks of a column for one query, in any order. Reading the same chunk several times in a row finds and counts it
/// only once.
/// </summary>
/// <param name="places">Locates the chunks.</param>
/// <param name="meter">Counts the chunks read.</param>
internal sealed class ChunkReader(ChunkPlaces places, QueryMeter meter)
{
    private long _current = -1;
    private long _counted = -1;
    private HeldBytes _found;

    /// <summary>Returns the bytes of the chunk; empty if there is none. Valid as long as the read transaction.</summary>
    public ReadOnlySpan<byte> Read(long chunk)
    {
        if (chunk != _current)
            Find(chunk);
        return _found.Span;
    }

    /// <summary>
    /// Reads the whole column ahead from disk if <paramref name="count"/> reads, spread over the column, will touch most of
    /// its chunks.
    /// </summary>
    public void Announce(long count)
    {
        if (count >= places.Count)
            places.ReadAhead();
    }

    /// <summary>Drops the current chunk because its page may be released; the next read finds it again.</summary>
    public void ForgetPages() => _current = -1;

    /// <summary>Prepares for another query.</summary>
    public void Reset() => (_current, _counted) = (-1, -1);

    private void Find(long chunk)
    {
        ReadOnlySpan<byte> bytes = places.Read(chunk);
        _found = new HeldBytes(bytes);
        _current = chunk;
        if (chunk == _counted)
            return;
        _counted = chunk;
        places.Visit();
        meter.Count.BlocksDecoded++;
        meter.Count.BytesDecoded += bytes.Length;
    }
}
