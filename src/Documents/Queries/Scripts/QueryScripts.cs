using Treepie.Computations;
using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Scripts;

/// <summary>Converts the JavaScript of a query to functions for the compiler.</summary>
internal static class QueryScripts
{
    /// <summary>Returns the functions that a query declares.</summary>
    /// <param name="query">The query.</param>
    /// <param name="series">Makes a declared time series a function.</param>
    public static IReadOnlyList<ScriptFunction> Functions(RqlQuery query, Func<Declaration, ScriptFunction> series)
    {
        var functions = new List<ScriptFunction>();
        foreach (Declaration declaration in query.Declarations)
        {
            if (declaration.IsTimeSeries)
            {
                functions.Add(series(declaration));
                continue;
            }

            int body = query.Text.IndexOf(declaration.Body, declaration.Position, StringComparison.Ordinal) + 1;
            (int line, int column) = RqlErrors.PlaceOf(query.Text, body);
            functions.Add(
                new ScriptFunction(declaration.Name, declaration.ParameterNames, declaration.Body[1..^1], line, column));
        }

        return functions;
    }

    /// <summary>Returns the names of the parameters that occur anywhere in the text, without <c>$</c>.</summary>
    public static IReadOnlyList<string> ParametersOf(RqlQuery query)
    {
        var names = new SortedSet<string>(StringComparer.Ordinal);
        for (int at = query.Text.IndexOf('$', StringComparison.Ordinal); at >= 0; at = query.Text.IndexOf('$', at + 1))
        {
            int end = at + 1;
            while (end < query.Text.Length && (char.IsAsciiLetterOrDigit(query.Text[end]) || query.Text[end] == '_'))
                end++;
            if (end > at + 1)
                names.Add(query.Text[(at + 1)..end]);
        }

        return [.. names];
    }
}
