using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Ranking;

/// <summary>Scores one term of a full-text field.</summary>
internal sealed class TermScorer(LengthFactors factors, long entriesWithTerm)
{
    /// <summary>From this many hits in a window on, its lengths are read as a whole.</summary>
    private const int ManyHits = 32;

    private readonly float idf = (float)Bm25.Idf(factors.Statistics.EntriesWithTerms, entriesWithTerm);
    private readonly ushort[] offsets = new ushort[PostingWindow.Size];

    /// <summary>The part of one entry.</summary>
    public float Score(long id, int frequency, float boost) => Part(boost * idf, frequency, factors.Of(id));

    /// <summary>Adds the parts of those hits of a window that have the term.</summary>
    public void Score(long window, PostingWindow postings, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        if (hits.Length < ManyHits)
        {
            for (int i = 0; i < hits.Length; i++)
            {
                int rank = postings.Rank(hits[i]);
                if (rank >= 0)
                    scores[i] += Score((window << PostingWindow.SizeBits) + hits[i], postings.Frequency(rank), boost);
            }

            return;
        }

        // Both ascend: one pass, and the place of an offset is its rank.
        ReadOnlySpan<float> lengths = factors.OfWindow(window);
        int count = postings.CopyOffsets(offsets);
        float weight = boost * idf;
        int hit = 0;
        for (int rank = 0; rank < count; rank++)
        {
            ushort offset = offsets[rank];
            while (hit < hits.Length && hits[hit] < offset)
                hit++;
            if (hit == hits.Length)
                return;
            if (hits[hit] == offset)
                scores[hit] += Part(weight, postings.Frequency(rank), lengths[offset]);
        }
    }

    private static float Part(float weight, int frequency, float factor) => weight * frequency / (frequency + factor);
}
