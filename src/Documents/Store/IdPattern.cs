using System.Text;

namespace Treepie.Store;

/// <summary>
/// Alternatives separated by <c>|</c>, each with <c>*</c> (any characters) and <c>?</c> (any one character), case-insensitive.
/// Backtracks to the last <c>*</c> only, so a match costs at most the product of the lengths of text and pattern.
/// </summary>
internal sealed class IdPattern
{
    private readonly byte[][] _alternatives;

    private IdPattern(byte[][] alternatives) => _alternatives = alternatives;

    /// <summary>Returns the pattern for a text; null if there is none.</summary>
    public static IdPattern? From(string? pattern)
    {
        if (string.IsNullOrEmpty(pattern))
            return null;
        return new IdPattern([.. pattern.Split('|').Select(part => CollectionName.Fold(part))]);
    }

    /// <summary>Returns whether an alternative matches the whole folded text.</summary>
    public bool IsMatch(ReadOnlySpan<byte> folded)
    {
        foreach (byte[] alternative in _alternatives)
            if (IsMatch(alternative, folded))
                return true;
        return false;
    }

    private static bool IsMatch(ReadOnlySpan<byte> pattern, ReadOnlySpan<byte> text)
    {
        int patternAt = 0;
        int textAt = 0;
        int star = -1;
        int starTextAt = 0;
        while (textAt < text.Length)
        {
            if (patternAt < pattern.Length && pattern[patternAt] == (byte)'*')
            {
                star = patternAt++;
                starTextAt = textAt;
            }
            else if (patternAt < pattern.Length && pattern[patternAt] == (byte)'?')
            {
                patternAt++;
                textAt += CharacterBytes(text[textAt..]);
            }
            else if (patternAt < pattern.Length && pattern[patternAt] == text[textAt])
            {
                patternAt++;
                textAt++;
            }
            else if (star >= 0)
            {
                patternAt = star + 1;
                starTextAt += CharacterBytes(text[starTextAt..]);
                textAt = starTextAt;
            }
            else
            {
                return false;
            }
        }

        return pattern[patternAt..].TrimStart((byte)'*').IsEmpty;
    }

    private static int CharacterBytes(ReadOnlySpan<byte> text)
    {
        Rune.DecodeFromUtf8(text, out _, out int consumed);
        return consumed;
    }
}
