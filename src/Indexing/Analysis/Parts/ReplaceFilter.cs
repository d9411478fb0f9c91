using System.Text;
using System.Text.RegularExpressions;

namespace Treepie.Indexing.Analysis.Parts;

/// <summary>Replaces the matches of a regular expression in a text.</summary>
/// <param name="expression">Matched without backtracking; empty matches are ignored.</param>
/// <param name="with">The replacement in UTF-8.</param>
internal sealed class ReplaceFilter(Regex expression, byte[] with) : CharacterFilter
{
    public override void Apply(ReadOnlySpan<byte> text, FilteredText result)
    {
        string decoded = Encoding.UTF8.GetString(text);
        int copied = 0;
        int place = 0;
        int placeChars = 0;
        foreach (ValueMatch match in expression.EnumerateMatches(decoded))
        {
            if (match.Length == 0)
                continue;
            place += Encoding.UTF8.GetByteCount(decoded.AsSpan(placeChars, match.Index - placeChars));
            int length = Encoding.UTF8.GetByteCount(decoded.AsSpan(match.Index, match.Length));
            placeChars = match.Index + match.Length;
            result.Copy(text[copied..place]);
            result.Replace(place, length, with);
            place += length;
            copied = place;
        }

        result.Copy(text[copied..]);
    }
}
