namespace Treepie.Indexing.Analysis.Parts;

/// <summary>Removes stop words. The words after them keep their positions, so that phrases still work.</summary>
internal sealed class StopFilter(StopWords words) : TermFilter
{
    public override void Apply(ReadOnlySpan<byte> term, TermChain chain, int place)
    {
        if (!words.Contains(term))
            chain.Pass(term, place + 1);
    }
}
