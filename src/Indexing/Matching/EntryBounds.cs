using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Upper bounds on the scores of single entries, for windows with many matches. Most entries contain a frequent term once,
/// and then the term's score follows from the entry's length alone. A bit for each entry with a higher frequency and one
/// comparison with the lengths of 64 entries therefore exclude many entries before any frequency is read.
/// </summary>
/// <remarks>
/// With threshold T, an entry of a block that has every term at most once stays if <c>rest + Σ weight / (1 + factor(length))
/// ≥ T</c>. For an entry that has exactly one term more than once, the block's bound of that term replaces the term's weight
/// in the sum. Entries with several such terms stay. Each condition becomes a maximum length.
/// </remarks>
internal sealed class EntryBounds(QueryContext context)
{
    private const int Blocks = PostingWindow.Blocks;

    /// <summary>Terms handled per entry; further terms contribute the bounds of their blocks.</summary>
    private const int MaxTerms = 8;

    private readonly ulong[] _above = context.RentWords(MaxTerms * Blocks);
    private readonly float[] _most = context.RentNumbers((MaxTerms + 1) * Blocks);
    private readonly float[] _weights = new float[MaxTerms];
    private readonly ulong[] _hits = context.RentWords(Blocks);
    private LengthFactors? _factors;
    private int _count;

    /// <summary>Bounds by block of the operators not added by <see cref="TryAdd"/>.</summary>
    public Span<float> Rest => _most.AsSpan(MaxTerms * Blocks, Blocks);

    /// <summary>Restarts for the given candidate entries.</summary>
    public void Begin(ReadOnlySpan<ulong> asked)
    {
        Debug.Assert(asked.Length == Blocks, "each block has a word");
        _count = 0;
        _factors = null;
        asked.CopyTo(_hits);
        Rest.Clear();
    }

    /// <summary>
    /// Adds a term of the window. Returns false if its bounds have to be added to <see cref="Rest"/> instead: it has few
    /// entries, belongs to another field, or there are too many terms.
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

    /// <summary>
    /// Removes entries that cannot reach a positive threshold. The entries must be among those given to <see cref="Begin"/>.
    /// </summary>
    public void Narrow(long window, Span<ulong> words, float threshold, float margin)
    {
        Debug.Assert(_count > 0 || _factors is null, "only lists of one field are bounded by entry");
        Debug.Assert(words.Length == Blocks, "each block has a word");
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
