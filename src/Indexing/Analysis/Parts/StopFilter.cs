namespace Treepie.Indexing.Analysis.Parts;

/// <summary>Leaves words out; those behind keep their positions, so that phrases hold.</summary>
internal sealed class StopFilter(StopWords words) : TermFilter
{
    public override void Apply(ReadOnlySpan<byte> term, TermChain chain, int place)
    {
        if (!words.Contains(term))
            chain.Pass(term, place + 1);
    }
}
