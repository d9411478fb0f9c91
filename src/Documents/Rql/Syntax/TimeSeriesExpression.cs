namespace Treepie.Rql.Syntax;

/// <summary><c>timeseries(from …)</c>: entries of a time series of a document, or what they come to.</summary>
/// <param name="Position">Offset of its first character.</param>
/// <param name="Source">The series: a name, or a path that begins with the alias of a document.</param>
internal sealed record TimeSeriesExpression(int Position, Expression Source) : Expression(Position)
{
    /// <summary>The first moment that is wanted; null: from the beginning.</summary>
    public Expression? From { get; init; }

    /// <summary>The last moment that is wanted; null: to the end.</summary>
    public Expression? To { get; init; }

    /// <summary>FIRST: how long a stretch from the first entry on is wanted.</summary>
    public Expression? First { get; init; }

    /// <summary>LAST: how long a stretch up to the last entry is wanted.</summary>
    public Expression? Last { get; init; }

    /// <summary>Name of the document that the tag of an entry names.</summary>
    public string? TagAlias { get; init; }

    public Expression? Where { get; init; }

    /// <summary>GROUP BY: the length of a group.</summary>
    public Expression? Period { get; init; }

    /// <summary>GROUP BY: the tag, or a field of its document.</summary>
    public PathExpression? Key { get; init; }

    /// <summary>How gaps between groups are filled.</summary>
    public TimeSeriesFill Fill { get; init; }

    public IReadOnlyList<AliasedExpression> Items { get; init; } = [];

    public Expression? Scale { get; init; }

    public Expression? Offset { get; init; }
}

/// <summary>How gaps between groups are filled.</summary>
internal enum TimeSeriesFill
{
    None,
    Linear,
    Nearest,
}
