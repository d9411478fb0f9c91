using Treepie.Rql.Syntax;

namespace Treepie.Rql;

/// <summary>Suggests what to write instead of operators of other languages and of misspelled names.</summary>
internal static class RqlAdvice
{
    /// <summary>Longer names are not compared with others, in characters.</summary>
    private const int MaxNameLength = 64;

    /// <summary>Rejects an operator of another language after a field.</summary>
    /// <exception cref="InvalidQueryException">There is one.</exception>
    public static void RefuseForeignOperator(RqlLexer lexer, Expression operand)
    {
        RqlToken token = lexer.Current;
        if (token.Kind != RqlTokenKind.Identifier)
            return;

        string field = lexer.Text[operand.Position..token.Start].TrimEnd();
        RqlToken next = lexer.Peek();
        string? advice = token.Text?.ToUpperInvariant() switch
        {
            "LIKE" =>
                $"There is no 'like': write startsWith({field}, {Stem(next)}), endsWith({field}, {Stem(next)}) "
                + $"or regex({field}, {Stem(next)}).",
            "CONTAINS" =>
                $"There is no 'contains': write {field} = {Stem(next)} for an element of an array, "
                + $"search({field}, {Stem(next)}) for a word, or regex({field}, {Stem(next)}) for a part of a text.",
            "IS" when RqlKeywords.Is(next.Text, "not") => $"There is no 'is': write {field} != null.",
            "IS" => $"There is no 'is': write {field} = {(RqlKeywords.Is(next.Text, "null") ? "null" : "…")}.",
            "NOT" when RqlKeywords.Is(next.Text, "in") => $"There is no 'not in': write true and not {field} in (…).",
            "NOT" when RqlKeywords.Is(next.Text, "between") =>
                $"There is no 'not between': write true and not {field} between … and ….",
            "NOT" when RqlKeywords.Is(next.Text, "like") => NotLike(lexer, field, next),
            _ => null,
        };
        if (advice is not null)
            throw lexer.Error(token.Start, advice);
    }

    /// <summary>
    /// The error for a comparison with the value on the left and the field on the right, after which the lexer stands.
    /// </summary>
    public static InvalidQueryException Swapped(RqlLexer lexer, RqlToken value, RqlToken comparison, Expression field)
    {
        string sign = lexer.Text[comparison.Start..comparison.End];
        string turned = sign.StartsWith('<') && sign != "<>" ? sign.Replace('<', '>') : sign.Replace('>', '<');
        turned = sign == "<>" ? sign : turned;
        return lexer.Error(
            value.Start,
            $"The sides are swapped: a field stands left of '{sign}', its value right. "
            + $"Write '{lexer.Text[field.Position..lexer.Current.Start].TrimEnd()} {turned} "
            + $"{lexer.Text[value.Start..value.End]}'.");
    }

    /// <summary>
    /// Returns a suggestion for a misspelled name, with a leading space; empty if no known name is similar.
    /// </summary>
    public static string DidYouMean(string name, IEnumerable<string> known)
    {
        if (name.Length > MaxNameLength)
            return "";

        int most = Math.Max(1, name.Length / 3);
        string? best = null;
        foreach (string candidate in known)
        {
            if (candidate.Length > MaxNameLength)
                continue;
            int edits = Edits(name.ToUpperInvariant(), candidate.ToUpperInvariant());
            if (edits > most || (edits == most && best is not null))
                continue;
            (best, most) = (candidate, edits);
        }

        return best is null ? "" : $" Did you mean '{best}'?";
    }

    /// <summary>
    /// Returns the number of insertions, deletions, replacements and transpositions of neighbouring characters.
    /// </summary>
    private static int Edits(string left, string right)
    {
        int[,] edits = new int[left.Length + 1, right.Length + 1];
        for (int i = 0; i <= left.Length; i++)
        {
            for (int j = 0; j <= right.Length; j++)
            {
                if (i == 0 || j == 0)
                {
                    edits[i, j] = i + j;
                    continue;
                }

                int replaced = edits[i - 1, j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
                int least = Math.Min(replaced, 1 + Math.Min(edits[i - 1, j], edits[i, j - 1]));
                bool isExchanged = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
                edits[i, j] = isExchanged ? Math.Min(least, 1 + edits[i - 2, j - 2]) : least;
            }
        }

        return edits[left.Length, right.Length];
    }

    private static string NotLike(RqlLexer lexer, string field, RqlToken like)
    {
        int before = lexer.Current.Start;
        lexer.MoveTo(like.End);
        string stem = Stem(lexer.Current);
        lexer.MoveTo(before);
        return $"There is no 'not like': write true and not startsWith({field}, {stem}).";
    }

    /// <summary>Returns the operand without the wildcards of other languages.</summary>
    private static string Stem(RqlToken value) => value.Kind switch
    {
        RqlTokenKind.String => $"'{value.Text?.Trim('%', '*').Replace("'", "''", StringComparison.Ordinal)}'",
        RqlTokenKind.Parameter => $"${value.Text}",
        _ => "…",
    };
}
