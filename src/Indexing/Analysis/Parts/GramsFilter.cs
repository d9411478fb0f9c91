namespace Treepie.Indexing.Analysis.Parts;

/// <summary>
/// Replaces a word by its fragments, at its position: all of them, or only those at its beginning. A word that is shorter
/// than the least size stays whole. A query searches for a word as it is unless it is longer than the longest fragment; for
/// a longer word it searches for all fragments of the greatest length, or only for the one at the beginning of the word.
/// </summary>
internal sealed class GramsFilter : TermFilter
{
    private readonly int _min;
    private readonly int _max;
    private readonly bool _isEdge;
    private readonly bool _isForQueries;

    public GramsFilter(int min, int max, bool isEdge, bool isForQueries = false)
    {
        _min = min;
        _max = max;
        _isEdge = isEdge;
        _isForQueries = isForQueries;
        ForQueries = isForQueries ? this : new GramsFilter(min, max, isEdge, isForQueries: true);
    }

    public override TermFilter? ForQueries { get; }

    public override void Apply(ReadOnlySpan<byte> term, TermChain chain, int place)
    {
        Span<int> starts = stackalloc int[NGramAnalyzer.MaxWordCharacters + 1];
        int count = NGramAnalyzer.Characters(term, starts);
        int least = _isForQueries ? Math.Min(_max, count) : Math.Min(_min, count);
        for (int i = 0; i == 0 || (!_isEdge && i + least <= count); i++)
        {
            for (int size = least; size <= _max && i + size <= count; size++)
            {
                ReadOnlySpan<byte> fragment = term[starts[i]..starts[i + size]];
                // A phrase requires as many occurrences of a fragment as it names.
                if (!_isForQueries || i == 0 || term[..(starts[i + size] - 1)].IndexOf(fragment) < 0)
                    chain.Pass(fragment, place + 1);
            }
        }
    }
}
