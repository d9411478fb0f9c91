using System.Runtime.CompilerServices;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Ranking;

/// <summary>
/// What the length of an entry does to its scores in one full-text field: <c>k1 · (1 − b + b · length / average length)</c>.
/// Shared by all terms of the field in a query. The lengths of a window are read a chunk at a time, once for all terms, and only where an entry is scored.
/// </summary>
/// <param name="norms">Lengths of the field.</param>
/// <param name="statistics">Sums over the field.</param>
/// <param name="lengths">Room for a byte for each entry of a window.</param>
internal sealed class LengthFactors(ChunkCursor norms, FieldStatistics statistics, byte[] lengths)
{
    private const int Chunks = PostingWindow.Size / NormChunk.Entries;

    private readonly float perTerm = (float)(Bm25.K1 * Bm25.B * statistics.EntriesWithTerms / Math.Max(1, statistics.TotalTerms));
    private long window = -1;
    private uint loaded;
    private uint wide;

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

    /// <summary>Makes a window the one that <see cref="At"/> speaks of.</summary>
    public void Enter(long number)
    {
        if (number == window)
            return;
        window = number;
        loaded = wide = 0;
    }

    /// <summary>The factor of an entry of the window entered.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public float At(int offset) => (loaded >> (offset >> NormChunk.EntryBits) & 1) != 0 ? Base + (perTerm * lengths[offset]) : Load(offset);

    private float Load(int offset)
    {
        int number = offset >> NormChunk.EntryBits;
        if ((wide >> number & 1) == 0)
        {
            var chunk = new NormChunk(norms.Read((window * Chunks) + number));
            ReadOnlySpan<byte> bytes = chunk.Bytes;
            if (chunk.Count == bytes.Length)
            {
                Span<byte> part = lengths.AsSpan(number * NormChunk.Entries, NormChunk.Entries);
                bytes.CopyTo(part);
                part[bytes.Length..].Clear();
                loaded |= 1u << number;
                return Base + (perTerm * lengths[offset]);
            }

            wide |= 1u << number; // texts of more than 255 words: each by itself
        }

        return Of((window << PostingWindow.SizeBits) + offset);
    }
}
