using System.Text;

namespace Treepie.Indexing.Tests.Model;

/// <summary>Patterns said the simplest way.</summary>
public static class NaivePatterns
{
    /// <summary>Whether a text fits a pattern of <c>*</c>, <c>?</c> and <c>\</c>, character by character.</summary>
    public static bool IsWildcard(string text, string pattern) =>
        IsWildcard([.. text.EnumerateRunes()], [.. pattern.EnumerateRunes()]);

    /// <summary>Whether a text is at most so many edits from another, the first characters being the same.</summary>
    public static bool IsNear(string text, string other, int edits, int prefix)
    {
        Rune[] left = [.. text.EnumerateRunes()];
        Rune[] right = [.. other.EnumerateRunes()];
        prefix = Math.Min(prefix, right.Length);
        return left.Length >= prefix
            && left.AsSpan(0, prefix).SequenceEqual(right.AsSpan(0, prefix))
            && Distance(left[prefix..], right[prefix..]) <= edits;
    }

    /// <summary>Edits from one text to another, two neighbours exchanged being one, and no character edited twice.</summary>
    public static int Distance(Rune[] left, Rune[] right)
    {
        var table = new int[left.Length + 1, right.Length + 1];
        for (int i = 0; i <= left.Length; i++)
        {
            for (int j = 0; j <= right.Length; j++)
            {
                if (i == 0 || j == 0)
                {
                    table[i, j] = i + j;
                    continue;
                }

                int best = Math.Min(table[i - 1, j], table[i, j - 1]) + 1;
                best = Math.Min(best, table[i - 1, j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1));
                if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
                    best = Math.Min(best, table[i - 2, j - 2] + 1);
                table[i, j] = best;
            }
        }

        return table[left.Length, right.Length];
    }

    private static bool IsWildcard(ReadOnlySpan<Rune> text, ReadOnlySpan<Rune> pattern)
    {
        if (pattern.IsEmpty)
            return text.IsEmpty;
        switch (pattern[0].Value)
        {
            case '*':
                return IsWildcard(text, pattern[1..]) || (!text.IsEmpty && IsWildcard(text[1..], pattern));
            case '?':
                return !text.IsEmpty && IsWildcard(text[1..], pattern[1..]);
            case '\\' when pattern.Length > 1:
                return !text.IsEmpty && text[0] == pattern[1] && IsWildcard(text[1..], pattern[2..]);
            default:
                return !text.IsEmpty && text[0] == pattern[0] && IsWildcard(text[1..], pattern[1..]);
        }
    }
}
