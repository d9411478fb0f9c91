using System.Text;
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
    /// <exception cref="InvalidQueryException">It is no query, or has no <c>update</c>.</exception>
    /// <exception cref="ScriptException">Its script is none.</exception>
    public static PatchQuery Compile(QueryRequest request, DatabaseOptions options)
    {
        ArgumentNullException.ThrowIfNull(request);
        ArgumentNullException.ThrowIfNull(options);
        RqlQuery parsed = RqlParser.Parse(request.Text);
        ScriptBlock update = parsed.Update
            ?? throw new InvalidQueryException("The query says which documents, and not what to do with them: end it with 'update { … }'.");
        if (parsed.Load.Any(static load => load.Many))
            throw RqlErrors.At(parsed.Text, parsed.Load[0].Source.Position, "'load' of several documents at once does not go with 'update': call load([…]) in the script.");

        (int line, int column) = RqlErrors.PlaceOf(parsed.Text, update.Position + 1);
        string prologue = Prologue(parsed);
        var script = new ScriptFunction(Patch.Function, ["args"], prologue + update.Text[1..^1], line, column - prologue.Length);
        return new PatchQuery(request with { IgnoresUpdate = true }, Patch.Compile(options.Computing, script, QueryScripts.Functions(parsed)));
    }

    /// <summary>On the line where the script begins, so that lines stay what they are.</summary>
    private static string Prologue(RqlQuery query)
    {
        var text = new StringBuilder();
        foreach (string name in QueryScripts.ParametersOf(query))
            text.Append($"const ${name} = args[\"{name}\"];");
        if (query.From.Alias is { } alias)
            text.Append($"const {alias} = this;");
        foreach (LoadItem load in query.Load)
            text.Append($"const {load.Alias} = load({QueryScripts.PathOf(query, load.Source)});");
        return text.ToString();
    }
}
