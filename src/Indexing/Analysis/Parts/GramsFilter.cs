namespace Treepie.Indexing.Analysis.Parts;

/// <summary>
/// The fragments of a word at its place: all of them, or those it begins with. A word that is shorter than the least stays
/// whole. The words of a query stay whole where a fragment is as long; of a longer one all its longest fragments are looked for,
/// or the longest it begins with.
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
                // a phrase asks for as many as it names
                if (!_isForQueries || i == 0 || term[..(starts[i + size] - 1)].IndexOf(fragment) < 0)
                    chain.Pass(fragment, place + 1);
            }
        }
    }
}
