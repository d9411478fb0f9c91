using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Ranking;

/// <summary>Scores one term of a full-text field.</summary>
internal sealed class TermScorer(LengthFactors factors, long entriesWithTerm)
{
    /// <summary>From this many hits in a window on, the window is read as a whole.</summary>
    private const int ManyHits = 512;

    /// <summary>From this many hits on it pays to count the bits before each word of a bitmap once.</summary>
    private const int SomeHits = 4;

    private readonly float idf = (float)Bm25.Idf(factors.Statistics.EntriesWithTerms, entriesWithTerm);
    private readonly ushort[] offsets = new ushort[PostingWindow.Size];

    /// <summary>The part of one entry.</summary>
    public float Score(long id, int frequency, float boost) => Part(boost * idf, frequency, factors.Of(id));

    /// <summary>Adds the parts of those hits of a window that have the term.</summary>
    public void Score(long window, PostingWindow postings, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        if (hits.Length < ManyHits)
        {
            ScoreFew(window, postings, hits, scores, boost * idf);
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

    /// <summary>The weight that a part of 1 has.</summary>
    public float Weight(float boost) => boost * idf;

    /// <summary>By block of a window, the most that the part of an entry can be.</summary>
    public void Parts(PostingWindow postings, Span<float> parts)
    {
        float unit = factors.ImpactUnit;
        ReadOnlySpan<byte> impacts = postings.Impacts;
        if (impacts.Length == 1)
        {
            parts.Fill(unit * impacts[0]);
            return;
        }

        for (int i = 0; i < parts.Length; i++)
            parts[i] = unit * impacts[i];
    }

    private void ScoreFew(long window, PostingWindow postings, ReadOnlySpan<ushort> hits, Span<float> scores, float weight)
    {
        Span<ushort> before = stackalloc ushort[PostingWindow.Blocks];
        bool isCounted = hits.Length >= SomeHits && postings.TryCountBefore(before);
        for (int i = 0; i < hits.Length; i++)
        {
            int rank = isCounted ? postings.Rank(hits[i], before) : postings.Rank(hits[i]);
            if (rank >= 0)
                scores[i] += Part(weight, postings.Frequency(rank), factors.Of((window << PostingWindow.SizeBits) + hits[i]));
        }
    }

    private static float Part(float weight, int frequency, float factor) => weight * frequency / (frequency + factor);
}
