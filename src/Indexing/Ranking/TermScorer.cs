using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Ranking;

/// <summary>Scores one term of a full-text field.</summary>
internal sealed class TermScorer(LengthFactors factors, long entriesWithTerm)
{
    private readonly float idf = (float)Bm25.Idf(factors.Statistics.EntriesWithTerms, entriesWithTerm);

    /// <summary>The part of one entry.</summary>
    public float Score(long id, int frequency, float boost) => Part(boost * idf, frequency, factors.Of(id));

    /// <summary>Adds the parts of those hits of a window that have the term.</summary>
    public void Score(long window, PostingWindow postings, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        WindowFactors lengths = factors.OfWindow(window);
        if (postings.Form == WindowSetForm.List)
            ScoreList(postings, hits, lengths, scores, boost * idf);
        else
            ScoreBits(postings, hits, lengths, scores, boost * idf);
    }

    /// <summary>What an impact of 1/255 is worth now.</summary>
    public float ImpactUnit => factors.ImpactUnit;

    /// <summary>The weight that a part of 1 has.</summary>
    public float Weight(float boost) => boost * idf;

    /// <summary>By block of a window, the most that the part of an entry can be.</summary>
    public void Parts(PostingWindow postings, Span<float> parts)
    {
        float unit = factors.ImpactUnit;
        ReadOnlySpan<byte> impacts = postings.Impacts;
        if (impacts.Length == 1)
        {
            // A list has one bound for all, but only where it has entries.
            float part = unit * impacts[0];
            parts.Clear();
            foreach (ushort offset in postings.Offsets)
                parts[offset >> PostingWindow.BlockBits] = part;
            return;
        }

        BoundKernels.Spread(impacts, unit, parts);
    }

    /// <summary>Adds to each block of a window the most that an entry in it can score.</summary>
    public void AddBounds(PostingWindow postings, Span<float> bounds, float boost)
    {
        float unit = factors.ImpactUnit * Weight(boost);
        ReadOnlySpan<byte> impacts = postings.Impacts;
        if (impacts.Length != 1)
        {
            BoundKernels.AddSpread(impacts, unit, bounds);
            return;
        }

        ulong blocks = 0;
        foreach (ushort offset in postings.Offsets)
            blocks |= 1UL << (offset >> PostingWindow.BlockBits);
        float bound = unit * impacts[0];
        for (; blocks != 0; blocks &= blocks - 1)
            bounds[BitOperations.TrailingZeroCount(blocks)] += bound;
    }

    /// <summary>The most that an entry of a window can score.</summary>
    public float Bound(PostingWindow postings, float boost) => factors.ImpactUnit * Weight(boost) * BoundKernels.Largest(postings.Impacts);

    /// <summary>The entries of a list are looked for among the hits, where they are fewer, or the other way round.</summary>
    private static void ScoreList(PostingWindow postings, ReadOnlySpan<ushort> hits, WindowFactors lengths, Span<float> scores, float weight)
    {
        ReadOnlySpan<ushort> offsets = postings.Offsets;
        var frequencies = new FrequencyReader(postings);
        int hit = 0;
        for (int rank = 0; rank < offsets.Length && hit < hits.Length; rank++)
        {
            ushort offset = offsets[rank];
            if (hits[hit] < offset)
            {
                // One step is most likely where the hits are this list's own, or fewer.
                if (++hit < hits.Length && hits[hit] < offset)
                {
                    int found = hits[hit..].BinarySearch(offset);
                    hit += found < 0 ? ~found : found;
                }

                if (hit == hits.Length)
                    return;
            }

            if (hits[hit] == offset)
                scores[hit] += Part(weight, frequencies.At(rank), lengths[offset]);
        }
    }

    /// <summary>Goes along the words of the bitmap once, counting what is set.</summary>
    private static void ScoreBits(PostingWindow postings, ReadOnlySpan<ushort> hits, WindowFactors lengths, Span<float> scores, float weight)
    {
        ReadOnlySpan<ulong> words = postings.Words;
        var frequencies = new FrequencyReader(postings);
        int next = 0;
        int before = 0;
        for (int i = 0; i < hits.Length; i++)
        {
            int offset = hits[i];
            int rank = offset;
            if (!words.IsEmpty)
            {
                int word = offset >> PostingWindow.BlockBits;
                while (next < word)
                    before += BitOperations.PopCount(words[next++]);
                ulong bits = words[word];
                ulong bit = 1UL << (offset & 63);
                if ((bits & bit) == 0)
                    continue;
                rank = before + BitOperations.PopCount(bits & (bit - 1));
            }

            scores[i] += Part(weight, frequencies.At(rank), lengths[offset]);
        }
    }

    private static float Part(float weight, int frequency, float factor) => weight * frequency / (frequency + factor);
}
