namespace Treepie.Rql.Syntax;

/// <summary>The syntax tree of a query. Immutable. Missing clauses are null or empty.</summary>
internal sealed record RqlQuery
{
    /// <summary>The whole text.</summary>
    public required string Text { get; init; }

    public IReadOnlyList<Declaration> Declarations { get; init; } = [];

    public required FromClause From { get; init; }

    public IReadOnlyList<AliasedExpression> GroupBy { get; init; } = [];

    /// <summary>
    /// The names of the keys of groups, if the clauses are about groups instead of documents; empty otherwise.
    /// </summary>
    public IReadOnlyList<GroupKeyName> GroupKeys { get; init; } = [];

    public Expression? Where { get; init; }

    public IReadOnlyList<OrderKey> OrderBy { get; init; } = [];

    public IReadOnlyList<LoadItem> Load { get; init; } = [];

    /// <summary>The names of loaded documents, also of those that only an update uses that was left out.</summary>
    public IReadOnlyList<string> LoadNames
    {
        get => field ?? [.. Load.Select(static load => load.Alias)];
        init;
    }

    public Expression? Filter { get; init; }

    public SelectClause? Select { get; init; }

    public IReadOnlyList<Expression> Include { get; init; } = [];

    public ScriptBlock? Update { get; init; }

    /// <summary>A number or a parameter.</summary>
    public Expression? Skip { get; init; }

    /// <summary>A number or a parameter.</summary>
    public Expression? Take { get; init; }

    /// <summary>A number or a parameter.</summary>
    public Expression? FilterLimit { get; init; }

    /// <summary>
    /// Returns the query with its whole condition in <see cref="Where"/>, including that of <c>from Users (Age > 3)</c>.
    /// </summary>
    public RqlQuery WithWholeCondition() => From.PreFilter is not { } first ? this : this with
    {
        From = From with { PreFilter = null },
        Where = Where is null ? first : new AndExpression(first.Position, [first, Where]),
    };

    /// <summary>
    /// Returns the query that selects the documents to update: without UPDATE and what only its script uses.
    /// </summary>
    public RqlQuery WithoutUpdate() => Filter is null
        ? this with { Update = null, Declarations = [], LoadNames = LoadNames, Load = [] }
        : this with { Update = null };

    /// <summary>
    /// Returns the time series that an item of SELECT refers to, inline or declared, or null if it is something else.
    /// </summary>
    public TimeSeriesExpression? TimeSeriesOf(Expression value) =>
        value as TimeSeriesExpression ?? (value is MethodExpression call ? DeclaredTimeSeries(call)?.Series : null);

    /// <summary>Whether a call is of a declared function.</summary>
    public bool Declares(MethodExpression call) => Declarations.Any(one => !one.IsTimeSeries && one.Name == call.Name);

    /// <summary>Returns the declared time series that a call refers to, or null.</summary>
    public Declaration? DeclaredTimeSeries(MethodExpression call) =>
        Declarations.FirstOrDefault(one => one.IsTimeSeries && one.Name == call.Name);
}
