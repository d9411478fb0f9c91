using Treepie.Rql.Syntax;

namespace Treepie.Rql;

/// <summary>Suggests what to write instead of operators of other languages and of misspelled names.</summary>
internal static class RqlAdvice
{
    /// <summary>Longer names are not compared with others, in characters.</summary>
    private const int MaxNameLength = 64;

    /// <summary>Longer parts of the query are cut in an advice, in characters.</summary>
    private const int MaxRest = 100;

    /// <summary>
    /// Returns the error for the current token, which is refused, if there is something else to write for it or for the word
    /// before it, which was taken for a name; otherwise null.
    /// </summary>
    public static InvalidQueryException? Refusal(RqlLexer lexer, QueryPlaces place)
    {
        RqlToken token = lexer.Current;
        if (UnquotedTime(lexer.Text, token.Start) is { } time)
            return lexer.Error(time.Start, $"A time is a text: write '{lexer.Text[time.Start..time.End]}'.");

        RqlToken taken = lexer.Previous;
        if (taken.Kind == RqlTokenKind.String && token.Kind == RqlTokenKind.Identifier && taken.End == token.Start)
            return lexer.Error(
                taken.Start,
                $"A quote within a text is doubled: write {lexer.Text[taken.Start..(taken.End - 1)]}''{token.Text}….");

        return OfWord(lexer, token, place, field: "")
            ?? (taken.Kind == RqlTokenKind.Identifier && !IsMember(lexer.Text, taken)
                ? OfWord(lexer, taken, Before(place), field: "")
                : null);
    }

    /// <summary>Returns the error for the current token if it is an operator of another language; otherwise null.</summary>
    public static InvalidQueryException? ForeignOperator(RqlLexer lexer, Expression operand) =>
        OfWord(
            lexer, lexer.Current, QueryPlaces.Operator, lexer.Text[operand.Position..lexer.Current.Start].TrimEnd());

    private static bool IsMember(string text, RqlToken token) => token.Start > 0 && text[token.Start - 1] == '.';

    private static QueryPlaces Before(QueryPlaces place) => (QueryPlaces)((int)place << 1) & QueryPlaces.BeforeAny;

    private static InvalidQueryException? OfWord(RqlLexer lexer, RqlToken token, QueryPlaces place, string field)
    {
        string text = lexer.Text;
        bool isNegative = token.Kind == RqlTokenKind.Number && text[token.Start] == '-';
        string word = isNegative ? "-" : text[token.Start..token.End];
        if (OtherLanguages.For(word, place, () => TextOf(lexer.After(token))) is not var (advice, second))
            return null;

        RqlToken value = lexer.After(token);
        if (second.Length > 0)
            (word, value) = ($"{word} {second}", lexer.After(value));
        string sentence = Fill(advice, word, field, Shown(lexer, value), text[Math.Min(value.Start, text.Length)..]);
        bool isKnown = second.Length == 0
            && token.Kind is not (RqlTokenKind.Foreign or RqlTokenKind.Parameter)
            && (token.Kind != RqlTokenKind.Identifier || RqlKeywords.IsKnown(word) || RqlKeywords.IsFunction(word));
        string said = isKnown ? $"'{word}' cannot stand here: {sentence}" : $"There is no '{word}': {sentence}";
        return lexer.Error(token.Start, $"{(char.IsUpper(sentence[0]) ? sentence : said)}.");

        string TextOf(RqlToken next) => text[next.Start..next.End];
    }

    /// <summary>
    /// Returns what to write instead of a call of a function that does not exist, or not here: "write …"; null if that is not
    /// known.
    /// </summary>
    public static string? ForCall(MethodExpression call)
    {
        int dot = call.Name.LastIndexOf('.');
        string name = call.Name[(dot + 1)..];
        if (OtherLanguages.For(name, QueryPlaces.Call, static () => "") is not var (advice, _))
            return null;

        // Name.StartsWith('a') is a call with a field before it, startsWith(Name, 'a') one with the field in it.
        string[] arguments = [.. call.Arguments.Select(static argument => Shown(argument.Value))];
        if (dot > 0)
            arguments = [call.Name[..dot], .. arguments];
        return Fill(advice, name, arguments.ElementAtOrDefault(0) ?? "Name", arguments.ElementAtOrDefault(1) ?? "…", "");
    }

    /// <summary>
    /// Returns what to write instead of a field that does not exist, or a similar name, with a leading space; otherwise empty.
    /// </summary>
    public static string ForField(string path, IEnumerable<string> known)
    {
        if (known.Contains(path, StringComparer.OrdinalIgnoreCase))
            return DidYouMean(path, known);
        int dot = path.LastIndexOf('.');
        string name = path[(dot + 1)..];
        if (OtherLanguages.For(path, QueryPlaces.Field, static () => "") is var (whole, _)
            && !whole.Contains("{field}", StringComparison.Ordinal))
            return $" Instead {Fill(whole, path, "", "", "")}.";
        if (path.StartsWith('@') && dot < 0)
            return $" A parameter is written ${path[1..]}.";
        if (UnquotedTime(path, path.IndexOfAny(['-', '/'])) is not null)
            return " A time is a text, without a function around it.";
        return dot > 0
            && OtherLanguages.For(name, QueryPlaces.Field, static () => "") is var (ofMember, _)
            && ofMember.Contains("{field}", StringComparison.Ordinal)
                ? $" Instead {Fill(ofMember, name.ToLowerInvariant(), path[..dot], "", "")}."
                : DidYouMean(path, known);
    }

    private static string Fill(string advice, string word, string field, string value, string rest)
    {
        string stem = value.StartsWith('\'') ? $"'{value.Trim('\'').Trim('%', '*')}'" : value;
        return advice.Replace("{word}", word, StringComparison.Ordinal)
            .Replace("{field}", field, StringComparison.Ordinal)
            .Replace("{value}", value, StringComparison.Ordinal)
            .Replace("{stem}", stem, StringComparison.Ordinal)
            .Replace("{rest}", rest.Length <= MaxRest ? rest : $"{rest[..MaxRest]}…", StringComparison.Ordinal);
    }

    /// <summary>Returns a value as the advice shows it: a path with its members, … for what is no value.</summary>
    private static string Shown(RqlLexer lexer, RqlToken value)
    {
        int end = value.End;
        while (value.Kind == RqlTokenKind.Identifier && end < lexer.Text.Length && IsPath(lexer.Text, end))
            end++;
        return value.Kind switch
        {
            RqlTokenKind.String => Quoted(value.Text),
            RqlTokenKind.Number or RqlTokenKind.Parameter or RqlTokenKind.Identifier => lexer.Text[value.Start..end],
            _ => "…",
        };
    }

    private static bool IsPath(string text, int at) =>
        char.IsLetterOrDigit(text[at])
        || text[at] is '_' or '.' or '['
        || (text[at] == ']' && (text[at - 1] == '[' || char.IsAsciiDigit(text[at - 1])));

    private static string Shown(Expression value) => value switch
    {
        LiteralExpression { Kind: LiteralKind.String } literal => Quoted(literal.Text),
        LiteralExpression literal => literal.Text,
        ParameterExpression parameter => $"${parameter.Name}",
        PathExpression path => path.ToString(),
        _ => "…",
    };

    private static string Quoted(string? text) => $"'{text?.Replace("'", "''", StringComparison.Ordinal)}'";

    /// <summary>The error for a list without parentheses, at which the lexer stands.</summary>
    /// <param name="lexer">The lexer.</param>
    /// <param name="operand">The operand of 'in'.</param>
    /// <param name="operatorStart">Where 'in' or 'all in' stands.</param>
    public static InvalidQueryException NoList(RqlLexer lexer, Expression operand, int operatorStart)
    {
        RqlToken list = lexer.Current;
        string text = lexer.Text;
        string field = text[operand.Position..operatorStart].TrimEnd();
        string written = text[operatorStart..list.Start].TrimEnd();
        int length = list.Kind is RqlTokenKind.OpenBracket or RqlTokenKind.OpenBrace
            ? text.AsSpan(list.End).IndexOfAny(']', '}')
            : -1;
        string values = length is >= 0 and <= MaxRest ? text.Substring(list.End, length)
            : list.Kind == RqlTokenKind.Identifier ? "…"
            : Shown(lexer, list);
        bool isSwapped = field[0] is '\'' or '"' && list.Kind == RqlTokenKind.Identifier;
        return lexer.Error(
            list.Start,
            $"Expected '(' after 'in', but found {lexer.Describe(list)}: write "
                + (isSwapped ? $"{Shown(lexer, list)} = {field}." : $"{field} {written} ({values})."));
    }

    /// <summary>Returns where a time without quotes begins and ends, around the sign after its year, or null.</summary>
    private static (int Start, int End)? UnquotedTime(string text, int sign)
    {
        if (sign < 0)
            return null;
        int start = sign;
        while (start > 0 && char.IsAsciiDigit(text[start - 1]))
            start--;
        int next = sign + 1;
        while (next < text.Length && char.IsAsciiDigit(text[next]))
            next++;
        bool isTime = sign - start == 4
            && next - sign is 2 or 3
            && next < text.Length
            && text[sign] is '-' or '/'
            && text[next] == text[sign];
        if (!isTime)
            return null;
        while (next < text.Length && (char.IsAsciiLetterOrDigit(text[next]) || text[next] is '-' or '/' or ':' or '.'))
            next++;
        return (start, next);
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
}
