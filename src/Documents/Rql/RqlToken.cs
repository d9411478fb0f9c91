namespace Treepie.Rql;

/// <summary>A token of a query, with its position.</summary>
/// <param name="Kind">Its kind.</param>
/// <param name="Start">Offset of its first character.</param>
/// <param name="End">Offset after its last character.</param>
/// <param name="Text">Identifier, content of a string, digits of a number, or name of a parameter; null for
/// punctuation.</param>
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

    /// <summary>A sign that is not part of the language.</summary>
    Foreign,
}
