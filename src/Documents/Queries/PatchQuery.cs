using Treepie.Computations;
using Treepie.Queries.Scripts;
using Treepie.Rql;
using Treepie.Rql.Syntax;
using Treepie.Writes;

namespace Treepie.Queries;

/// <summary>A query with <c>update { … }</c>: which documents, and what happens to each. Immutable.</summary>
public sealed class PatchQuery
{
    private PatchQuery(QueryRequest query, Patch patch) => (Query, Patch) = (query, patch);

    /// <summary>Finds the documents.</summary>
    public QueryRequest Query { get; }

    /// <summary>What is done to each; the query's parameters are its arguments.</summary>
    public Patch Patch { get; }

    /// <summary>Compiles one.</summary>
    /// <param name="request">The query.</param>
    /// <param name="options">The options of the database.</param>
    /// <param name="takesAnyStatements">Whether the script may take as many statements as it likes in the time it has.</param>
    /// <exception cref="InvalidQueryException">It is no query, or has no <c>update</c>.</exception>
    /// <exception cref="ScriptException">Its script is none.</exception>
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
