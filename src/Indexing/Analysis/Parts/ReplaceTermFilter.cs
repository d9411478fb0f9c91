using System.Text;
using System.Text.RegularExpressions;

namespace Treepie.Indexing.Analysis.Parts;

/// <summary>Replaces the matches of a regular expression in a word; a word of which nothing remains is removed.</summary>
/// <param name="expression">Matched without backtracking; empty matches are ignored.</param>
/// <param name="with">The replacement in UTF-8.</param>
internal sealed class ReplaceTermFilter(Regex expression, byte[] with) : TermFilter
{
    public override bool MayThrow => true;

    public override void Apply(ReadOnlySpan<byte> term, TermChain chain, int place)
    {
        string decoded = Encoding.UTF8.GetString(term);
        TokenBuffer room = chain.Room(place);
        int copied = 0;
        foreach (ValueMatch match in expression.EnumerateMatches(decoded))
        {
            if (match.Length == 0)
                continue;
            Append(room, decoded.AsSpan(copied, match.Index - copied));
            copied = match.Index + match.Length;
            with.CopyTo(room.Room(with.Length));
            room.Advance(with.Length);
            if (room.Length > chain.MaxTermBytes)
                throw new IndexQueryException(
                    $"A filter of the analyzer makes more than {chain.MaxTermBytes:N0} bytes of one word: replace with "
                        + $"less text.");
        }

        Append(room, decoded.AsSpan(copied));
        chain.Pass(room.Written, place + 1);
    }

    private static void Append(TokenBuffer room, ReadOnlySpan<char> piece) =>
        room.Advance(Encoding.UTF8.GetBytes(piece, room.Room(piece.Length * 3)));
}
