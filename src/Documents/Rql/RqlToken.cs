namespace Treepie.Rql;

/// <summary>One word of a query: what it is and where it stands.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Start">Offset of its first character.</param>
/// <param name="End">Offset behind its last character.</param>
/// <param name="Text">Identifier, content of a string, digits of a number, or name of a parameter; null for signs.</param>
internal readonly record struct RqlToken(RqlTokenKind Kind, int Start, int End, string? Text);

/// <summary>Kinds of <see cref="RqlToken"/>.</summary>
internal enum RqlTokenKind
{
    End,
    Identifier,
    String,
    Number,
    Parameter,
    OpenParenthesis,
    CloseParenthesis,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    Comma,
    Dot,
    Star,
    Semicolon,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}
