namespace Treepie.Indexing.Analysis.Parts;

/// <summary>Takes case away, by full folding: <c>ß</c> is <c>ss</c>.</summary>
internal sealed class CaseFilter : TermFilter
{
    public override bool SuitsPieces => true;

    public override void Apply(ReadOnlySpan<byte> term, TermChain chain, int place)
    {
        TokenBuffer room = chain.Room(place);
        room.AppendFolded(term);
        chain.Pass(room.Written, place + 1);
    }
}
