namespace Treepie.Rql.Syntax;

/// <summary><c>timeseries(from …)</c>: entries of a document's time series, or their aggregates.</summary>
/// <param name="Position">Offset of its first character.</param>
/// <param name="Source">The series: a name, or a path that begins with the alias of a document.</param>
internal sealed record TimeSeriesExpression(int Position, Expression Source) : Expression(Position)
{
    /// <summary>The start of the range; null for the first entry.</summary>
    public Expression? From { get; init; }

    /// <summary>The end of the range; null for the last entry.</summary>
    public Expression? To { get; init; }

    /// <summary>FIRST: the length of the range from the first entry.</summary>
    public Expression? First { get; init; }

    /// <summary>LAST: the length of the range before the last entry.</summary>
    public Expression? Last { get; init; }

    /// <summary>The alias of the document that the tag of an entry names.</summary>
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
