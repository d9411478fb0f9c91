using System.Text;

namespace Treepie.Indexing.Analysis.Parts;

/// <summary>Removes the accents of Latin letters.</summary>
internal sealed class AccentsFilter : TermFilter
{
    public override bool SuitsPieces => true;

    public override void Apply(ReadOnlySpan<byte> term, TermChain chain, int place)
    {
        if (Ascii.IsValid(term))
        {
            chain.Pass(term, place + 1);
            return;
        }

        TokenBuffer room = chain.Room(place);
        while (!term.IsEmpty)
        {
            Rune.DecodeFromUtf8(term, out Rune rune, out int consumed);
            if (LatinLetters.Plain(rune) is { } plain)
                room.Advance(Encoding.UTF8.GetBytes(plain, room.Room(plain.Length)));
            else
                room.Append(rune);
            term = term[consumed..];
        }

        chain.Pass(room.Written, place + 1);
    }
}
