using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Ranking;

/// <summary>
/// What the length of an entry does to its scores in one full-text field: <c>k1 · (1 − b + b · length / average length)</c>.
/// Shared by all terms of the field in a query; a window is computed once for all of them.
/// </summary>
/// <param name="norms">Lengths of the field.</param>
/// <param name="statistics">Sums over the field.</param>
/// <param name="factors">Room for the factors of a window.</param>
internal sealed class LengthFactors(ChunkCursor norms, FieldStatistics statistics, float[] factors)
{
    private readonly float perTerm = (float)(Bm25.K1 * Bm25.B * statistics.EntriesWithTerms / Math.Max(1, statistics.TotalTerms));
    private float[]? ofLength;
    private long window = -1;

    private static float Base => (float)(Bm25.K1 * (1 - Bm25.B));

    public FieldStatistics Statistics => statistics;

    /// <summary>What an impact of 1/255 is worth now, see <see cref="IImpacts"/>.</summary>
    public float ImpactUnit { get; } = statistics.ReferenceLength <= 0
        ? 1 // nothing is known: every impact is above 1
        : (float)(Math.Max(1, statistics.TotalTerms / (double)Math.Max(1, statistics.EntriesWithTerms) / statistics.ReferenceLength) / 255);

    /// <summary>The factor of one entry.</summary>
    public float Of(long id)
    {
        int length = new NormChunk(norms.Read(id >> NormChunk.EntryBits))[(int)(id & (NormChunk.Entries - 1))];
        return Base + (perTerm * length);
    }

    /// <summary>The factors of a window, by offset; they live until another window is asked for.</summary>
    public ReadOnlySpan<float> OfWindow(long number)
    {
        if (number == window)
            return factors;

        window = number;
        ofLength ??= OfLengths();
        const int Chunks = PostingWindow.Size / NormChunk.Entries;
        for (int i = 0; i < Chunks; i++)
        {
            var chunk = new NormChunk(norms.Read((number * Chunks) + i));
            Span<float> part = factors.AsSpan(i * NormChunk.Entries, NormChunk.Entries);
            int count = chunk.Count;
            ReadOnlySpan<byte> lengths = chunk.Bytes;
            for (int slot = 0; slot < lengths.Length; slot++)
                part[slot] = ofLength[lengths[slot]];
            for (int slot = lengths.Length; slot < count; slot++)
                part[slot] = Base + (perTerm * chunk[slot]);
            part[count..].Fill(Base);
        }

        return factors;
    }

    /// <summary>The factors of short entries, by length: most are.</summary>
    private float[] OfLengths()
    {
        float[] all = new float[byte.MaxValue + 1];
        for (int length = 0; length < all.Length; length++)
            all[length] = Base + (perTerm * length);
        return all;
    }
}
