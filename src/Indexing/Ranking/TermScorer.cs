using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Ranking;

/// <summary>Scores one term of a full-text field.</summary>
internal sealed class TermScorer(LengthFactors factors, long entriesWithTerm)
{
    private readonly float _idf = (float)Bm25.Idf(factors.Statistics.EntriesWithTerms, entriesWithTerm);

    /// <summary>The part of one entry.</summary>
    public float Score(long id, int frequency, float boost) => Bm25.Part(boost * _idf, frequency, factors.Of(id));

    /// <summary>The parts of all entries of a list.</summary>
    public void Score(ReadOnlySpan<Posting> postings, Span<float> scores, float boost) =>
        factors.Weigh(postings, scores, boost * _idf);

    /// <summary>The parts of all entries of a list that depend on the entry.</summary>
    public void Parts(ReadOnlySpan<Posting> postings, Span<float> parts) => factors.Weigh(postings, parts, 1);

    /// <summary>The part of an entry of some length.</summary>
    public float ScoreOf(int frequency, int length, float boost) => Bm25.Part(boost * _idf, frequency, factors.OfLength(length));

    /// <summary>Adds the parts of those hits of a window that have the term.</summary>
    public void Score(long window, in PostingWindow postings, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        WindowFactors lengths = factors.OfWindow(window);
        if (postings.Form == WindowSetForm.List)
            ScoreList(in postings, hits, in lengths, scores, boost * _idf);
        else
            ScoreBits(in postings, hits, in lengths, scores, boost * _idf);
    }

    /// <summary>
    /// As <see cref="Score(long, in PostingWindow, ReadOnlySpan{ushort}, Span{float}, float)"/>, with the offsets of the
    /// postings, behind which some may be read that mean nothing.
    /// </summary>
    public void ScorePadded(
        long window, in PostingWindow postings, ReadOnlySpan<ushort> padded, ReadOnlySpan<ushort> hits, Span<float> scores,
        float boost)
    {
        WindowFactors lengths = factors.OfWindow(window);
        var frequencies = new FrequencyReader(in postings);
        float weight = boost * _idf;
        int rank = 0;
        for (int i = 0; i < hits.Length; i++)
        {
            rank += OffsetKernels.LowerBoundPadded(padded[rank..], postings.Count - rank, hits[i]);
            if (rank == postings.Count)
                return;
            if (padded[rank] == hits[i])
                scores[i] += Bm25.Part(weight, frequencies.At(rank), lengths[hits[i]]);
        }
    }

    /// <summary>
    /// Writes the parts of hits of a window, 0 for those that have not got the term, and what their lengths do to the parts of
    /// all terms of the field.
    /// </summary>
    /// <param name="postings">The postings of the window.</param>
    /// <param name="padded">Their offsets, behind which some may be read that mean nothing; empty where they are not side by
    /// side.</param>
    /// <param name="hits">The hits, ascending.</param>
    /// <param name="lengths">The lengths of the window.</param>
    /// <param name="parts">Gets the parts.</param>
    /// <param name="ofLengths">Gets what lengths do; empty: nobody asks.</param>
    /// <param name="boost">The boost.</param>
    public void WriteParts(
        in PostingWindow postings, ReadOnlySpan<ushort> padded, ReadOnlySpan<ushort> hits, in WindowFactors lengths,
        Span<float> parts, Span<float> ofLengths, float boost)
    {
        var frequencies = new FrequencyReader(in postings);
        float weight = boost * _idf;
        int rank = 0;
        for (int i = 0; i < hits.Length; i++)
        {
            ushort hit = hits[i];
            int place = padded.IsEmpty
                ? postings.Rank(hit)
                : rank += OffsetKernels.LowerBoundPadded(padded[rank..], postings.Count - rank, hit);
            float factor = lengths[hit];
            if (i < ofLengths.Length)
                ofLengths[i] = factor;
            bool isThere = padded.IsEmpty ? place >= 0 : place < postings.Count && padded[place] == hit;
            parts[i] = isThere ? Bm25.Part(weight, frequencies.At(place), factor) : 0;
        }
    }

    /// <summary>
    /// The part of a hit that has the term, by what its length does. Where all frequencies are 1 its rank is not looked for.
    /// </summary>
    public float PartOf(in PostingWindow postings, int offset, float ofLength, float boost) =>
        Bm25.Part(boost * _idf, postings.Frequencies is [] or [0, ..] ? 1 : postings.Frequency(postings.Rank(offset)), ofLength);

    /// <summary>Lengths of the field.</summary>
    public LengthFactors Factors => factors;

    /// <summary>What an impact of 1/255 is worth now.</summary>
    public float ImpactUnit => factors.ImpactUnit;

    /// <summary>The weight that a part of 1 has.</summary>
    public float Weight(float boost) => boost * _idf;

    /// <summary>
    /// Adds to each block of a window the most that an entry in it can score. A LIST has one bound for all, but only where it has
    /// entries.
    /// </summary>
    public void AddBounds(in PostingWindow postings, Span<float> bounds, float weight)
    {
        float unit = factors.ImpactUnit * weight;
        if (postings.Form != WindowSetForm.List)
        {
            BoundKernels.AddSpread(postings.Impacts, unit, bounds);
            return;
        }

        float bound = unit * postings.Impacts[0];
        int last = -1;
        foreach (ushort offset in postings.Offsets)
        {
            int block = offset >> PostingWindow.BlockBits;
            bounds[block] += block == last ? 0 : bound;
            last = block;
        }
    }

    /// <summary>
    /// Writes those of all entries of a window, ascending, that may score so much, told from their lengths alone where they have
    /// the term once; returns how many.
    /// </summary>
    public int CopyReaching(
        long window, in PostingWindow postings, ReadOnlySpan<ushort> offsets, float least, float boost, Span<ushort> reaching)
    {
        WindowFactors lengths = factors.OfWindow(window);
        int most = lengths.MostLength(boost * _idf, least), count = 0;
        if (most == byte.MaxValue)
        {
            offsets.CopyTo(reaching);
            return offsets.Length;
        }

        var frequencies = new FrequencyReader(in postings);
        for (int rank = 0; rank < offsets.Length; rank++)
        {
            reaching[count] = offsets[rank];
            count += frequencies.MayBeAbove(rank) | lengths.MayBeUpTo(offsets[rank], most) ? 1 : 0;
        }

        return count;
    }

    /// <summary>The most that an entry of a window can score.</summary>
    public float Bound(in PostingWindow postings, float boost) =>
        factors.ImpactUnit * Weight(boost) * BoundKernels.Largest(postings.Impacts);

    /// <summary>The entries of a list are looked for among the hits, where they are fewer, or the other way round.</summary>
    private static void ScoreList(
        in PostingWindow postings, ReadOnlySpan<ushort> hits, in WindowFactors lengths, Span<float> scores, float weight)
    {
        ReadOnlySpan<ushort> offsets = postings.Offsets;
        var frequencies = new FrequencyReader(in postings);
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
                scores[hit] += Bm25.Part(weight, frequencies.At(rank), lengths[offset]);
        }
    }

    /// <summary>Goes along the words of the bitmap once, counting what is set.</summary>
    private static void ScoreBits(
        in PostingWindow postings, ReadOnlySpan<ushort> hits, in WindowFactors lengths, Span<float> scores, float weight)
    {
        ReadOnlySpan<ulong> words = postings.Words;
        var frequencies = new FrequencyReader(in postings);
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

            scores[i] += Bm25.Part(weight, frequencies.At(rank), lengths[offset]);
        }
    }
}
