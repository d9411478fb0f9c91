using Treepie.Storage.Memory;

namespace Treepie.Indexing.Columns;

/// <summary>
/// Reads chunks of a column for one query, in any order. A chunk that is asked for again at once is neither looked for nor
/// counted again.
/// </summary>
/// <param name="places">Where they lie.</param>
/// <param name="meter">Counts them.</param>
internal sealed class ChunkReader(ChunkPlaces places, QueryMeter meter)
{
    private long current = -1;
    private long counted = -1;
    private HeldBytes found;

    /// <summary>The bytes of the chunk, empty if there is none. They live as long as the read transaction.</summary>
    public ReadOnlySpan<byte> Read(long chunk)
    {
        if (chunk != current)
            Find(chunk);
        return found.Span;
    }

    /// <summary>Whether it is the chunk that was read last.</summary>
    public bool Has(long chunk) => chunk == current;

    /// <summary>
    /// Says that so many places all over the column are going to be looked at: chunks that are not in memory are asked for where
    /// that will be most of them.
    /// </summary>
    public void Announce(long count)
    {
        if (count >= places.Count)
            places.Announce();
    }

    /// <summary>Forgets the chunk it has found, as its page may go: it finds it again when it is asked.</summary>
    public void ForgetPages() => current = -1;

    /// <summary>Makes it that of another query.</summary>
    public void Reset() => (current, counted) = (-1, -1);

    private void Find(long chunk)
    {
        ReadOnlySpan<byte> bytes = places.Read(chunk);
        found = new HeldBytes(bytes);
        current = chunk;
        if (chunk == counted)
            return;
        counted = chunk;
        places.Visit();
        meter.Count.BlocksDecoded++;
        meter.Count.BytesDecoded += bytes.Length;
    }
}
