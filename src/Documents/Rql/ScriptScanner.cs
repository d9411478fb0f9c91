namespace Treepie.Rql;

/// <summary>
/// Finds the end of a JavaScript block or parameter list inside a query without parsing it: matches brackets, and skips strings,
/// templates, regular expressions and comments.
/// </summary>
internal static class ScriptScanner
{
    /// <summary>Returns the offset after the bracket that closes the one at <paramref name="start"/>.</summary>
    /// <param name="text">The text.</param>
    /// <param name="start">The offset of the bracket.</param>
    /// <param name="visitCode">Called with the offset of each character that is code; null: nothing is called.</param>
    /// <exception cref="InvalidQueryException">The bracket is not closed.</exception>
    public static int FindEnd(string text, int start, Action<int>? visitCode = null)
    {
        var open = new Stack<char>();
        char last = '\0'; // the last significant character: distinguishes a division from a regular expression
        for (int i = start; i < text.Length; i++)
        {
            char c = text[i];
            if (char.IsWhiteSpace(c))
                continue;

            if (c is '\'' or '"')
            {
                i = SkipQuoted(text, i);
            }
            else if (c == '`')
            {
                // If the template contains ${…}, it continues after the closing brace.
                i = SkipTemplate(text, i, open);
            }
            else if (c == '/' && i + 1 < text.Length && text[i + 1] is '/' or '*')
            {
                i = SkipComment(text, i);
                continue;
            }
            else if (c == '/' && MayBeginRegex(text, i, last))
            {
                i = SkipRegex(text, i);
            }
            else if (c is '(' or '[' or '{')
            {
                open.Push(c);
            }
            else if (c is not (')' or ']' or '}'))
            {
                visitCode?.Invoke(i);
            }
            else
            {
                char opened = open.Count > 0 ? open.Pop() : '\0';
                if (opened == '`' && c == '}')
                    i = SkipTemplate(text, i, open);
                else if (Closing(opened) != c)
                    throw RqlErrors.At(text, i, $"'{c}' does not close '{opened}'.");
                else if (open.Count == 0)
                    return i + 1;
            }

            last = c;
        }

        throw RqlErrors.At(text, start, $"This '{text[start]}' is not closed.");
    }

    private static char Closing(char opened) => opened switch { '(' => ')', '[' => ']', '{' => '}', _ => '\0' };

    private static int SkipQuoted(string text, int start)
    {
        for (int i = start + 1; i < text.Length; i++)
        {
            if (text[i] == '\\')
                i++;
            else if (text[i] == text[start])
                return i;
            else if (text[i] == '\n')
                break;
        }

        throw RqlErrors.At(text, start, "This string is not closed.");
    }

    /// <summary>
    /// Skips from a backtick, or from the brace that ends a <c>${…}</c>, to the closing backtick or past the next <c>${</c>.
    /// </summary>
    private static int SkipTemplate(string text, int start, Stack<char> open)
    {
        for (int i = start + 1; i < text.Length; i++)
        {
            if (text[i] == '\\')
            {
                i++;
            }
            else if (text[i] == '`')
            {
                return i;
            }
            else if (text[i] == '$' && i + 1 < text.Length && text[i + 1] == '{')
            {
                open.Push('`');
                return i + 1;
            }
        }

        throw RqlErrors.At(text, start, "This template string is not closed.");
    }

    private static int SkipComment(string text, int start)
    {
        if (text[start + 1] == '/')
        {
            int end = text.IndexOf('\n', start);
            return end < 0 ? text.Length : end;
        }

        int close = text.IndexOf("*/", start + 2, StringComparison.Ordinal);
        return close >= 0 ? close + 1 : throw RqlErrors.At(text, start, "This comment is not closed: expected '*/'.");
    }

    private static bool MayBeginRegex(string text, int position, char last) =>
        last is '\0' or '(' or ',' or '=' or ':' or '[' or '!' or '&' or '|' or '?' or '{' or '}' or ';' or '+' or '<' or '>'
        || (last == 'n' && text.AsSpan(0, position).TrimEnd().EndsWith("return", StringComparison.Ordinal));

    private static int SkipRegex(string text, int start)
    {
        bool inClass = false;
        for (int i = start + 1; i < text.Length && text[i] != '\n'; i++)
        {
            if (text[i] == '\\')
                i++;
            else if (text[i] == '[')
                inClass = true;
            else if (text[i] == ']')
                inClass = false;
            else if (text[i] == '/' && !inClass)
                return i;
        }

        throw RqlErrors.At(text, start, "This regular expression is not closed.");
    }
}
