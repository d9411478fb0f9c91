using Treepie.Rql;
using Treepie.Rql.Syntax;

namespace Treepie.Queries.Filters;

/// <summary>The names of functions, and the errors for calls that are unknown or not allowed where they are.</summary>
internal static class FunctionNames
{
    /// <summary>Methods that a condition of WHERE may call.</summary>
    public static IReadOnlyList<string> Conditions { get; } =
    [
        "exact", "search", "proximity", "startsWith", "endsWith", "exists", "regex", "fuzzy", "lucene", "moreLikeThis",
        "intersect", "boost", "id", "spatial.within", "spatial.contains", "spatial.intersects", "spatial.disjoint",
        "vector.search", "fusion.rrf", "fusion.weighted",
    ];

    private static readonly string[] _all =
    [
        .. FilterFunctions.Names, .. Conditions, "any", "array", "avg", "average", "cmpxchg", "counter", "counterRaw", "counters",
        "custom", "embedding.text", "explanations", "facet", "highlight", "key", "max", "min", "neverStale", "random",
        "revisions", "score", "spatial.circle", "spatial.distance", "spatial.point", "spatial.wkt", "suggest", "sum",
        "timeseries", "timings",
    ];

    /// <summary>The error for a call that is not allowed where it is, or whose function does not exist.</summary>
    /// <param name="query">The query.</param>
    /// <param name="call">The call.</param>
    /// <param name="place">Where it stands.</param>
    public static InvalidQueryException NotHere(RqlQuery query, MethodExpression call, string place) =>
        Unknown(query, call) ?? RqlErrors.At(
            query.Text, call.Position,
            $"'{call.Name}()' cannot stand {place}{(RqlAdvice.ForCall(call) is { } advice ? $": {advice}" : "")}.");

    /// <summary>Returns the error for a call of a function that does not exist; otherwise null.</summary>
    public static InvalidQueryException? Unknown(RqlQuery query, Expression expression) =>
        expression is not MethodExpression call
        || _all.Contains(call.Name, StringComparer.OrdinalIgnoreCase)
        || query.Declarations.Any(one => one.Name == call.Name)
            ? null
            : RqlErrors.At(
                query.Text, call.Position,
                $"There is no function '{call.Name}()'"
                    + (RqlAdvice.ForCall(call) is { } advice ? $": {advice}."
                        : "."
                            + RqlAdvice.DidYouMean(call.Name, _all.Concat(query.Declarations.Select(static one => one.Name)))
                            + " One of your own is declared before 'from': declare function name(x) { … }."));
}
