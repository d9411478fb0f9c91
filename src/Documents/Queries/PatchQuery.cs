using Treepie.Computations;
using Treepie.Queries.Scripts;
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
        return new PatchQuery(
            request with { IgnoresUpdate = true },
            Patch.Compile(
                options.Computing, script, [.. ExpressionText.Helpers, .. QueryScripts.Functions(parsed)], takesAnyStatements));
    }
}
