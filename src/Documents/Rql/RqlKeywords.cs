using System.Collections.Frozen;
using Treepie.Indexes.Definitions;

namespace Treepie.Rql;

/// <summary>The keywords of the language. All are case-insensitive.</summary>
internal static class RqlKeywords
{
    /// <summary>
    /// The words of the grammar in the order in which editors offer them, some in pairs. The lexer asks for no others.
    /// </summary>
    public static IReadOnlyList<string> All { get; } =
    [
        "from", "where", "order by", "select", "include", "limit", "group by", "filter", "load", "update", "declare function",
        "and", "or", "not", "in", "between", "all in", "as", "asc", "desc", "distinct", "double", "long", "true", "false", "null",
        "index", "offset", "filter_limit", "alphaNumeric", "string", "ascending", "descending", "nulls first", "nulls last",
        "with", "declare timeseries", "scale", "tag", "interpolation", "nearest", "linear",
    ];

    /// <summary>
    /// The functions as their calls begin, in the order in which editors offer them. Binders ask for no others.
    /// </summary>
    public static IReadOnlyList<string> Functions { get; } =
    [
        "any(", "array(", "boost(", "cmpxchg(", "counter(", "counters(", "custom(", "embedding.forDoc(", "endsWith(",
        "exact(", "exists(", "explanations(", "facet(", "fusion.rrf(", "fusion.weighted(", "fuzzy(", "highlight(", "id()",
        "intersect(", "key()", "lucene(", "max(", "min(", "moreLikeThis(", "neverStale()", "proximity(", "random()", "regex(",
        "revisions(", "score()", "search(", "spatial.circle(", "spatial.contains(", "spatial.disjoint(", "spatial.distance(",
        "spatial.intersects(", "spatial.point(", "spatial.within(", "spatial.wkt(", "startsWith(", "suggest(", "sum(",
        "last(", "timeseries(", "timings()", "vector.search(", .. ComputedKinds.Names.Select(static name => $"{name}("),
    ];

    private static readonly FrozenSet<string> _all =
        All.SelectMany(static word => word.Split(' ')).ToFrozenSet(StringComparer.OrdinalIgnoreCase);

    private static readonly FrozenSet<string> _functions =
        Functions.Select(static call => call[..call.IndexOf('(', StringComparison.Ordinal)])
            .ToFrozenSet(StringComparer.OrdinalIgnoreCase);

    /// <summary>Words that cannot be an unquoted alias or the unquoted first part of a path.</summary>
    private static readonly string[] _reserved =
        ["as", "select", "where", "load", "group", "order", "include", "update", "offset", "limit", "scale"];

    /// <summary>Words that begin a clause after FROM.</summary>
    private static readonly string[] _clauseStarts =
        ["group", "where", "order", "load", "filter", "select", "include", "update", "limit", "offset", "filter_limit"];

    /// <summary>Whether a word is one of <see cref="All"/>.</summary>
    public static bool IsKnown(string word) => _all.Contains(word);

    /// <summary>Whether a function is one of <see cref="Functions"/>.</summary>
    public static bool IsFunction(string name) => _functions.Contains(name);

    public static bool Is(string? word, string keyword) => string.Equals(word, keyword, StringComparison.OrdinalIgnoreCase);

    public static bool IsReserved(string? word) => Contains(_reserved, word);

    public static bool IsClauseStart(string? word) => Contains(_clauseStarts, word);

    private static bool Contains(string[] words, string? word)
    {
        foreach (string candidate in words)
            if (Is(word, candidate))
                return true;

        return false;
    }
}
