using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Ranking;

/// <summary>Scores one term of a full-text field.</summary>
internal sealed class TermScorer(LengthFactors factors, long entriesWithTerm)
{
    private readonly float _idf = (float)Bm25.Idf(factors.Statistics.EntriesWithTerms, entriesWithTerm);

    /// <summary>Returns the score of one entry.</summary>
    public float Score(long id, int frequency, float boost) => Bm25.Part(boost * _idf, frequency, factors.Of(id));

    /// <summary>Writes the scores of all entries of a list.</summary>
    public void Score(ReadOnlySpan<Posting> postings, Span<float> scores, float boost) =>
        factors.Weigh(postings, scores, boost * _idf);

    /// <summary>Writes the entry-dependent parts of the scores of all entries of a list.</summary>
    public void Parts(ReadOnlySpan<Posting> postings, Span<float> parts) => factors.Weigh(postings, parts, 1);

    /// <summary>Returns the score of an entry with the given length.</summary>
    public float ScoreOf(int frequency, int length, float boost) => Bm25.Part(boost * _idf, frequency, factors.OfLength(length));

    /// <summary>Adds the scores of those hits of a window that have the term.</summary>
    public void Score(long window, in PostingWindow postings, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        WindowFactors lengths = factors.OfWindow(window);
        if (postings.Form == WindowSetForm.List)
            ScoreList(in postings, hits, in lengths, scores, boost * _idf);
        else
            ScoreBits(in postings, hits, in lengths, scores, boost * _idf);
    }

    /// <summary>
    /// Writes the scores of hits of a window, 0 for those without the term, and optionally their length factors, which are
    /// valid for all terms of the field.
    /// </summary>
    /// <param name="postings">The postings of the window.</param>
    /// <param name="padded">Their offsets, with undefined padding behind them; empty if they are not stored
    /// contiguously.</param>
    /// <param name="hits">The hits, ascending.</param>
    /// <param name="lengths">The length factors of the window.</param>
    /// <param name="parts">Receives the scores.</param>
    /// <param name="ofLengths">Receives the length factors; empty if they are not wanted.</param>
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
    /// Returns the score of a hit that has the term, given its length factor. Skips the search for its rank if all
    /// frequencies are 1.
    /// </summary>
    public float PartOf(in PostingWindow postings, int offset, float ofLength, float boost) =>
        Bm25.Part(boost * _idf, postings.Frequencies is [] or [0, ..] ? 1 : postings.Frequency(postings.Rank(offset)), ofLength);

    /// <summary>Length factors of the field.</summary>
    public LengthFactors Factors => factors;

    /// <summary>The current value of an impact of 1/255.</summary>
    public float ImpactUnit => factors.ImpactUnit;

    /// <summary>The score of an entry-dependent part of 1.</summary>
    public float Weight(float boost) => boost * _idf;

    /// <summary>
    /// Adds to each block of a window an upper bound on the score of an entry in it. A window stored as a list has one
    /// bound, which is added only to blocks with entries.
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
    /// Copies the entries of a window, ascending, that may reach a score; returns how many. Entries that have the term once
    /// are judged by their lengths alone.
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

    /// <summary>Looks up each posting among the hits, searching ahead where several hits are skipped.</summary>
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
                // A single step is most likely if the hits are few or come from this list.
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

    /// <summary>Scans the words of the bitmap once, counting set bits to obtain ranks.</summary>
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
