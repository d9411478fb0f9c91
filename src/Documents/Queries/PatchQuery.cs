using Treepie.Computations;
using Treepie.Queries.Binding;
using Treepie.Queries.Projecting;
using Treepie.Queries.Scripts;
using Treepie.Queries.TimeSeries;
using Treepie.Rql;
using Treepie.Rql.Syntax;
using Treepie.Writes;

namespace Treepie.Queries;

/// <summary>A query with <c>update { … }</c>: selects documents and patches each of them. Immutable.</summary>
public sealed class PatchQuery
{
    private PatchQuery(QueryRequest query, Patch patch) => (Query, Patch) = (query, patch);

    /// <summary>The query that selects the documents.</summary>
    public QueryRequest Query { get; }

    /// <summary>The patch applied to each document; its arguments are the parameters of the query.</summary>
    public Patch Patch { get; }

    /// <summary>Compiles a query with <c>update</c>.</summary>
    /// <param name="request">The query.</param>
    /// <param name="options">The options of the database.</param>
    /// <param name="takesAnyStatements">Whether the script may execute any number of statements within its time limit.</param>
    /// <exception cref="InvalidQueryException">The query is not valid, or has no <c>update</c> clause.</exception>
    /// <exception cref="ScriptException">The script is not valid.</exception>
    public static PatchQuery Compile(QueryRequest request, DatabaseOptions options, bool takesAnyStatements = false)
    {
        ArgumentNullException.ThrowIfNull(request);
        ArgumentNullException.ThrowIfNull(options);
        RqlQuery parsed = RqlParser.Parse(request.Text);
        ScriptBlock update = parsed.Update
            ?? throw new InvalidQueryException(
                "The query says which documents, and not what to do with them: end it with 'update { … }'.");

        (int line, int column) = RqlErrors.PlaceOf(parsed.Text, update.Position + 1);
        string prologue = QueryScript.Prologue(parsed, "args");
        var script = new ScriptFunction(Patch.Function, ["args"], prologue + update.Text[1..^1], line, column - prologue.Length);
        var series = new List<SelectedTimeSeries>();
        var parameters = new QueryParameters(parsed, request.Parameters, new BindingContext(), CancellationToken.None);
        var beside = new BesideBinder(parsed, parameters, new FieldBinder(parsed), new LoadBinder(parsed));
        IReadOnlyList<ScriptFunction> functions = QueryScripts.Functions(
            parsed, declared => QueryScript.Function(declared, beside.BindDeclared, series));
        Patch patch = Patch.Compile(
            options.Computing, script, [.. ExpressionText.Helpers, .. functions], takesAnyStatements,
            (number, foldedId, items, load, output, cancellationToken) =>
            {
                if ((uint)number >= (uint)series.Count)
                    throw new ScriptException("The query declares no such time series.");
                series[number].Write(foldedId, new SeriesSource(items, load), output, cancellationToken);
            });
        return new PatchQuery(request with { IgnoresUpdate = true }, patch);
    }
}
