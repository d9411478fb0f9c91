using System.Numerics;
using Treepie.Indexing.Kernels;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Goes along the positions of one window of a long list, for entries that ascend: gives them as they are encoded. What lies between two entries that are asked for is counted and
/// passed over, not decoded.
/// </summary>
internal ref struct PositionReader
{
    private readonly PositionCursor cursor;
    private readonly PostingCursor list;
    private readonly PostingWindow postings;
    private readonly ReadOnlySpan<ulong> words;
    private readonly ReadOnlySpan<ushort> offsets;
    private FrequencyReader frequencies;
    private ReadOnlySpan<byte> rest;
    private int nextWord;
    private int before;
    private int endRank;

    public PositionReader(PositionCursor cursor, PostingCursor list, PostingWindow postings)
    {
        this.cursor = cursor;
        this.list = list;
        this.postings = postings;
        if (postings.Form == WindowSetForm.List)
            offsets = postings.Offsets;
        else
            words = postings.Words;
        frequencies = new FrequencyReader(postings);
    }

    /// <summary>The positions of an entry that is among the postings, behind the one asked for last, and of those behind it; <paramref name="frequency"/> says how many are its own.</summary>
    public ReadOnlySpan<byte> Next(int offset, out int frequency)
    {
        int rank = RankOf(offset);
        if (rank >= endRank)
        {
            rest = cursor.Block(list, postings, rank, out int firstRank, out endRank);
            frequencies.StartAt(firstRank);
        }

        rest = rest[VarintKernels.Skip(rest, frequencies.Pass(rank, out frequency))..];
        return rest;
    }

    private int RankOf(int offset)
    {
        if (!offsets.IsEmpty)
        {
            while (offsets[before] < offset)
                before++;
            return before;
        }

        if (words.IsEmpty)
            return offset;
        int word = offset >> PostingWindow.BlockBits;
        while (nextWord < word)
            before += BitOperations.PopCount(words[nextWord++]);
        return before + BitOperations.PopCount(words[word] & ((1UL << (offset & 63)) - 1));
    }
}
