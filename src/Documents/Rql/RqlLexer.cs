using System.Diagnostics;
using System.Globalization;
using System.Text;

namespace Treepie.Rql;

/// <summary>
/// Splits a query into tokens, on demand, because the same characters have another meaning inside a JavaScript block. The only
/// state is a position, so looking ahead and moving back are cheap.
/// </summary>
internal sealed class RqlLexer
{
    private readonly string _text;
    private RqlToken _current;

    public RqlLexer(string text)
    {
        _text = text;
        _current = Scan(0);
    }

    public string Text => _text;

    /// <summary>The next token to be consumed.</summary>
    public RqlToken Current => _current;

    /// <summary>The token consumed last. Not known after <see cref="MoveTo"/>.</summary>
    public RqlToken Previous { get; private set; }

    /// <summary>Consumes and returns the current token.</summary>
    public RqlToken Next()
    {
        Previous = _current;
        _current = Scan(Previous.End);
        return Previous;
    }

    /// <summary>Returns the token after the current one.</summary>
    public RqlToken Peek() => After(_current);

    /// <summary>Returns the token after another.</summary>
    public RqlToken After(RqlToken token) => Scan(token.End);

    /// <summary>Continues at another offset.</summary>
    public void MoveTo(int offset)
    {
        _current = Scan(offset);
        Previous = default;
    }

    public bool Is(RqlTokenKind kind) => _current.Kind == kind;

    public bool IsWord(string keyword)
    {
        Debug.Assert(RqlKeywords.IsKnown(keyword), "RqlKeywords lists every word of the grammar.");
        return _current.Kind == RqlTokenKind.Identifier && RqlKeywords.Is(_current.Text, keyword);
    }

    /// <summary>Whether a unit may follow a number without a space, as in durations: <c>1h</c>.</summary>
    public bool AllowsUnits { get; set; }

    public bool Take(RqlTokenKind kind)
    {
        if (_current.Kind != kind)
            return false;

        Next();
        return true;
    }

    public bool TakeWord(string keyword)
    {
        if (!IsWord(keyword))
            return false;

        Next();
        return true;
    }

    public RqlToken Expect(RqlTokenKind kind, string what, QueryPlaces place = QueryPlaces.Elsewhere) =>
        _current.Kind == kind ? Next() : throw Expected(what, place);

    /// <summary>The error for the current token: with advice if it is known from other languages.</summary>
    /// <param name="what">What was expected.</param>
    /// <param name="place">The place of the token in the query.</param>
    public InvalidQueryException Expected(string what, QueryPlaces place = QueryPlaces.Elsewhere) =>
        RqlAdvice.Refusal(this, place)
        ?? RqlErrors.At(
            _text, _current.Start,
            _current.Kind == RqlTokenKind.Foreign
                ? $"{Name(_text[_current.Start])} has no meaning here."
                : $"Expected {what}, but found {Describe(_current)}.");

    public InvalidQueryException Error(int position, string problem) => RqlErrors.At(_text, position, problem);

    public string Describe(RqlToken token) => token.Kind switch
    {
        RqlTokenKind.End => "the end of the query",
        RqlTokenKind.String => $"the string {Shorten(_text[token.Start..token.End])}",
        RqlTokenKind.Parameter => $"the parameter ${Shorten(token.Text ?? "")}",
        _ => $"'{Shorten(_text[token.Start..token.End])}'",
    };

    private static string Shorten(string part) => part.Length <= 40 ? part : part[..40] + "…";

    private RqlToken Scan(int position)
    {
        position = SkipBlanks(position);
        if (position >= _text.Length)
            return new RqlToken(RqlTokenKind.End, _text.Length, _text.Length, null);

        char c = _text[position];
        if (c is '\'' or '"')
            return ScanString(position);
        if (char.IsAsciiDigit(c) || (c == '-' && At(position + 1) is >= '0' and <= '9'))
            return ScanNumber(position);
        if (c == '$')
            return ScanParameter(position);
        if (IsIdentifierStart(c))
            return ScanIdentifier(position);

        (RqlTokenKind kind, int length) = ScanSign(position);
        return new RqlToken(kind, position, position + length, null);
    }

    private int SkipBlanks(int position)
    {
        while (position < _text.Length)
        {
            if (char.IsWhiteSpace(_text[position]))
            {
                position++;
            }
            else if (_text[position] == '/' && At(position + 1) == '/')
            {
                int end = _text.IndexOf('\n', position);
                position = end < 0 ? _text.Length : end + 1;
            }
            else if (_text[position] == '/' && At(position + 1) == '*')
            {
                int end = _text.IndexOf("*/", position + 2, StringComparison.Ordinal);
                if (end < 0)
                    throw Error(position, "This comment is not closed: expected '*/'.");
                position = end + 2;
            }
            else
            {
                break;
            }
        }

        return position;
    }

    private RqlToken ScanString(int start)
    {
        char quote = _text[start];
        var content = new StringBuilder();
        for (int i = start + 1; i < _text.Length; i++)
        {
            char c = _text[i];
            if (c == quote)
            {
                if (At(i + 1) != quote)
                    return new RqlToken(RqlTokenKind.String, start, i + 1, content.ToString());
                i++;
            }
            else if (c == '\\' && At(i + 1) is '\'' or '"')
            {
                c = _text[++i];
            }

            content.Append(c);
        }

        throw Error(start, $"This string is not closed: expected {quote}.");
    }

    private RqlToken ScanNumber(int start)
    {
        int end = start + 1;
        bool hasPoint = false;
        while (end < _text.Length
            && (char.IsAsciiDigit(_text[end]) || (_text[end] == '.' && !hasPoint && char.IsAsciiDigit(At(end + 1)))))
            hasPoint |= _text[end++] == '.';

        // An exponent, as programs format very small and very large numbers: 1e-7, 1e+21.
        int exponent = end + (At(end + 1) is '+' or '-' ? 2 : 1);
        if (At(end) is 'e' or 'E' && char.IsAsciiDigit(At(exponent)))
        {
            for (end = exponent; char.IsAsciiDigit(At(end));)
                end++;
        }

        if (end < _text.Length && ((IsIdentifierStart(_text[end]) && !AllowsUnits) || _text[end] == '.'))
            throw Error(
                end,
                "A number is digits with at most one point and an exponent (no unit), and a blank or a sign must follow it.");

        return new RqlToken(RqlTokenKind.Number, start, end, _text[start..end]);
    }

    private RqlToken ScanParameter(int start)
    {
        int end = start + 1;
        while (end < _text.Length && IsIdentifierPart(_text[end]))
            end++;

        if (end == start + 1)
            throw Error(start, "Expected the name of a parameter after '$'.");

        return new RqlToken(RqlTokenKind.Parameter, start, end, _text[(start + 1)..end]);
    }

    private RqlToken ScanIdentifier(int start)
    {
        // Clients do not quote names that contain '-' or '@'; RQL has no arithmetic that a minus could belong to.
        int end = start + 1;
        while (end < _text.Length
            && (IsIdentifierPart(_text[end]) || (_text[end] is '-' or '@' && IsIdentifierPart(At(end + 1)))))
            end++;

        return new RqlToken(RqlTokenKind.Identifier, start, end, _text[start..end]);
    }

    private (RqlTokenKind Kind, int Length) ScanSign(int position)
    {
        char next = At(position + 1);
        return (_text[position], next) switch
        {
            ('(', _) => (RqlTokenKind.OpenParenthesis, 1),
            (')', _) => (RqlTokenKind.CloseParenthesis, 1),
            ('[', _) => (RqlTokenKind.OpenBracket, 1),
            (']', _) => (RqlTokenKind.CloseBracket, 1),
            ('{', _) => (RqlTokenKind.OpenBrace, 1),
            ('}', _) => (RqlTokenKind.CloseBrace, 1),
            (',', _) => (RqlTokenKind.Comma, 1),
            ('.', _) => (RqlTokenKind.Dot, 1),
            ('*', _) => (RqlTokenKind.Star, 1),
            (';', _) => (RqlTokenKind.Semicolon, 1),
            ('=' or '!', '=') when At(position + 2) == '=' => (RqlTokenKind.Foreign, 3),
            ('=', '>' or '<' or '~') => (RqlTokenKind.Foreign, 2),
            ('=', _) => (RqlTokenKind.Equal, next == '=' ? 2 : 1),
            ('!', '=') or ('<', '>') => (RqlTokenKind.NotEqual, 2),
            ('<', '=') => (RqlTokenKind.LessOrEqual, 2),
            ('<', _) => (RqlTokenKind.Less, 1),
            ('>', '=') => (RqlTokenKind.GreaterOrEqual, 2),
            ('>', _) => (RqlTokenKind.Greater, 1),
            ('!', '~') or ('&', '&') or ('|', '|') or ('-', '-' or '>') or (':', ':' or '=') => (RqlTokenKind.Foreign, 2),
            _ => (RqlTokenKind.Foreign, 1),
        };
    }

    private static string Name(char c) =>
        char.IsControl(c) || char.IsSurrogate(c)
            ? string.Create(CultureInfo.InvariantCulture, $"The character U+{(int)c:X4}")
            : $"'{c}'";

    private char At(int position) => position < _text.Length ? _text[position] : '\0';

    private static bool IsIdentifierStart(char c) => char.IsLetter(c) || c is '_' or '@';

    private static bool IsIdentifierPart(char c) => char.IsLetterOrDigit(c) || c == '_';
}
