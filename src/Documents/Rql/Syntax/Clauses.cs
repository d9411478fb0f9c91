namespace Treepie.Rql.Syntax;

/// <summary>FROM: the source of the results.</summary>
/// <param name="Position">Offset of the name.</param>
/// <param name="IsIndex">Whether it is <c>from index</c>.</param>
/// <param name="Name">Collection, <c>@all_docs</c>, or index.</param>
/// <param name="PreFilter">The condition in parentheses after the name.</param>
/// <param name="Alias">The name that other clauses use for the source.</param>
internal sealed record FromClause(int Position, bool IsIndex, string Name, Expression? PreFilter, string? Alias);

/// <summary>A key of GROUP BY or an item of SELECT.</summary>
internal sealed record AliasedExpression(Expression Value, string? Alias);

/// <summary>A name of a key of groups.</summary>
/// <param name="Name">The name: a path such as <c>ShipTo.City</c>, <c>array(Tags[])</c>, or an alias.</param>
/// <param name="Member">The member that holds its value in the object of a group.</param>
internal sealed record GroupKeyName(string Name, string Member);

/// <summary>A key of ORDER BY.</summary>
internal sealed record OrderKey(Expression Value, OrderType Type, bool Descending, bool? NullsFirst);

/// <summary>How the values of a key are compared.</summary>
internal enum OrderType
{
    /// <summary>Not specified: as text.</summary>
    Default,
    String,
    Long,
    Double,
    AlphaNumeric,
}

/// <summary>A document (or several, with <c>[]</c>) to load for each result.</summary>
internal sealed record LoadItem(Expression Source, string Alias, bool Many);

/// <summary>SELECT: what to return of each result.</summary>
/// <param name="Position">Offset of the clause.</param>
/// <param name="Distinct">Whether duplicates are removed.</param>
/// <param name="Everything">Whether it is <c>*</c>.</param>
/// <param name="Script">A JavaScript object as written.</param>
/// <param name="Items">The items, if it is neither <c>*</c> nor a script.</param>
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
/// <param name="Series">The parsed time series; null for a function.</param>
internal sealed record Declaration(
    int Position, bool IsTimeSeries, string Name, string Parameters, string Body, TimeSeriesExpression? Series = null)
{
    /// <summary>The names of the parameters.</summary>
    public string[] ParameterNames => Parameters[1..^1].Split(
        ',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);
}
