namespace Treepie.Rql.Syntax;

/// <summary>FROM: where results come from.</summary>
/// <param name="Position">Offset of the name.</param>
/// <param name="IsIndex">Whether it is <c>from index</c>.</param>
/// <param name="Name">Collection, <c>@all_docs</c>, or index.</param>
/// <param name="PreFilter">What stands in parentheses after the name.</param>
/// <param name="Alias">Name by which clauses call the source.</param>
internal sealed record FromClause(int Position, bool IsIndex, string Name, Expression? PreFilter, string? Alias);

/// <summary>A key of GROUP BY or an item of SELECT.</summary>
internal sealed record AliasedExpression(Expression Value, string? Alias);

/// <summary>A key of ORDER BY.</summary>
internal sealed record OrderKey(Expression Value, OrderType Type, bool Descending, bool? NullsFirst);

/// <summary>How values of a key compare.</summary>
internal enum OrderType
{
    /// <summary>Not said: as text.</summary>
    Default,
    String,
    Long,
    Double,
    AlphaNumeric,
}

/// <summary>One document (or, with <c>[]</c>, several) to load beside the result.</summary>
internal sealed record LoadItem(Expression Source, string Alias, bool Many);

/// <summary>SELECT: what of each result is wanted.</summary>
/// <param name="Position">Offset of the clause.</param>
/// <param name="Distinct">Whether equal results are given once.</param>
/// <param name="Everything"><c>*</c></param>
/// <param name="Script">A JavaScript object, as written.</param>
/// <param name="Items">Items, where there is neither.</param>
internal sealed record SelectClause(
    int Position, bool Distinct, bool Everything, ScriptBlock? Script, IReadOnlyList<AliasedExpression> Items);

/// <summary>JavaScript as written, with its brackets.</summary>
internal sealed record ScriptBlock(int Position, string Text);

/// <summary>A function or time series declared before the query.</summary>
/// <param name="Position">Offset of its name.</param>
/// <param name="IsTimeSeries">Whether it is <c>declare timeseries</c>.</param>
/// <param name="Name">Its name.</param>
/// <param name="Parameters">Its parameters as written, with parentheses.</param>
/// <param name="Body">Its body as written, with brackets.</param>
/// <param name="Series">What a time series is.</param>
internal sealed record Declaration(
    int Position, bool IsTimeSeries, string Name, string Parameters, string Body, TimeSeriesExpression? Series = null)
{
    /// <summary>Names of the parameters.</summary>
    public string[] ParameterNames => Parameters[1..^1].Split(
        ',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);
}
