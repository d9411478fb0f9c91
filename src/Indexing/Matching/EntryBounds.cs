using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching;

/// <summary>
/// What single entries of a window can score at the most, where many match: most entries have a frequent word once, and then its
/// part is known from the length of the entry alone. So a bit for each entry that has a word more often, and one comparison with
/// the lengths of 64 entries, leave many of them out before any frequency is read.
/// </summary>
/// <remarks>
/// Of a block, with T the threshold: an entry that has every word at most once stays if <c>rest + Σ weight / (1 + factor(length))
/// ≥ T</c>, one that has a single word more often if the bound of that word in the block in place of its part leads there, and
/// one that has several words more often stays. Each is a greatest length.
/// </remarks>
internal sealed class EntryBounds(QueryContext context)
{
    private const int Blocks = PostingWindow.Blocks;

    /// <summary>Words looked at so; what others can give is taken as it is known of their blocks.</summary>
    private const int MaxTerms = 8;

    private readonly ulong[] _above = context.RentWords(MaxTerms * Blocks);
    private readonly float[] _most = context.RentNumbers((MaxTerms + 1) * Blocks);
    private readonly float[] _weights = new float[MaxTerms];
    private readonly ulong[] _hits = context.RentWords(Blocks);
    private LengthFactors? _factors;
    private int _count;

    /// <summary>What operators that are not added as words can give, by block.</summary>
    public Span<float> Rest => _most.AsSpan(MaxTerms * Blocks, Blocks);

    /// <summary>Begins anew, for the entries that are asked about.</summary>
    public void Begin(ReadOnlySpan<ulong> asked)
    {
        _count = 0;
        _factors = null;
        asked.CopyTo(_hits);
        Rest.Clear();
    }

    /// <summary>
    /// Adds a word of the window; false where it has to be added to <see cref="Rest"/>: it stands in few entries, in another
    /// field, or there are many words.
    /// </summary>
    public bool TryAdd(in PostingWindow postings, TermScorer scorer, float boost)
    {
        if (_count == MaxTerms
            || boost < 0
            || postings.Form is not (WindowSetForm.Bits or WindowSetForm.Full)
            || (_factors is not null && _factors != scorer.Factors))
            return false;

        _factors = scorer.Factors;
        _weights[_count] = scorer.Weight(boost);
        Span<float> bounds = _most.AsSpan(_count * Blocks, Blocks);
        bounds.Clear();
        scorer.AddBounds(in postings, bounds, _weights[_count]);
        FrequenciesAbove.Copy(in postings, _hits.AsSpan(0, Blocks), _above.AsSpan(_count * Blocks, Blocks));
        _count++;
        return true;
    }

    /// <summary>Takes entries out that cannot score a threshold above 0; all of them were among those asked about.</summary>
    public void Narrow(long window, Span<ulong> words, float threshold, float margin)
    {
        if (_factors is null)
            return;

        WindowFactors lengths = _factors.OfWindow(window);
        float least = threshold / margin, all = 0;
        for (int i = 0; i < _count; i++)
            all += _weights[i];
        for (int block = 0; block < Blocks; block++)
        {
            ReadOnlySpan<byte> block64 = lengths.Block(block);
            if (words[block] != 0 && !block64.IsEmpty)
                words[block] &= Staying(block, words[block], block64, lengths, least - Rest[block], all);
        }
    }

    private ulong Staying(int block, ulong asked, ReadOnlySpan<byte> lengths, in WindowFactors factor, float least, float all)
    {
        ulong once = asked, several = 0, seen = 0, staying = 0;
        for (int i = 0; i < _count; i++)
        {
            ulong mine = _above[(i * Blocks) + block] & asked;
            several |= seen & mine;
            seen |= mine;
        }

        once &= ~seen;
        if (once != 0)
            staying |= once & NotLonger(lengths, factor.MostLength(all, least));
        for (int i = 0; i < _count && (seen & ~several) != 0; i++)
        {
            ulong mine = _above[(i * Blocks) + block] & asked & ~several;
            if (mine != 0)
                staying |= mine & NotLonger(lengths, factor.MostLength(all - _weights[i], least - _most[(i * Blocks) + block]));
        }

        return staying | several;
    }

    private static ulong NotLonger(ReadOnlySpan<byte> lengths, int most) =>
        most < 0 ? 0 : most >= byte.MaxValue ? ulong.MaxValue : BitmapKernels.NotAbove(lengths, (byte)most);
}
