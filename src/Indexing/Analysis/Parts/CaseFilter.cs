namespace Treepie.Indexing.Analysis.Parts;

/// <summary>Folds case fully: <c>ß</c> becomes <c>ss</c>.</summary>
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
