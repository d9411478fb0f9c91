using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Sorting;
using Treepie.Indexing.Terms;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Indexing.Searching;

/// <summary>
/// A range over the first field of the order, separated from the rest of a query. A walk along the values of that field
/// begins and ends with the range, so nothing outside is read and entries need not be tested for being inside.
/// </summary>
/// <param name="Query">The range.</param>
/// <param name="Keys">The range as keys of the dictionary.</param>
/// <param name="Rest">The other conditions; matches everything if there are none.</param>
internal sealed record OrderRange(RangeQuery Query, KeyRange Keys, IndexQuery Rest)
{
    private static readonly MatchAllQuery _everything = new();

    /// <summary>Whether the query has no other condition.</summary>
    public bool IsAll => Rest is MatchAllQuery;

    /// <summary>
    /// Number of entries among which a walk encounters the hits: those of the range if it is part of the query and was
    /// counted, otherwise all.
    /// </summary>
    public static long EntriesMet(QueryContext context, OrderRange? range, bool isWithoutRange) =>
        !isWithoutRange && range is not null && context.Counted(range.Query) is { } count
            ? count.Entries
            : context.View.State.EntryCount;

    /// <summary>Returns the range of a request, or null if there is none or the order cannot be walked.</summary>
    public static OrderRange? Find(QueryContext context, SearchRequest request)
    {
        if (request.Take == 0 || request.Sort.Count == 0 || SortPlan.NeedsScores(request.Sort))
            return null;

        SortKey first = request.Sort[0];
        if (request.Query is RangeQuery only)
            return TryOpen(context, first, only, out KeyRange all) ? new OrderRange(only, all, _everything) : null;

        if (request.Query is not AndQuery)
            return null;

        List<IndexQuery> clauses = QueryCompiler.Flatten(request.Query);
        if (clauses.Exists(clause => QueryCompiler.LateOf(clause) is not null))
            return null; // a vector search needs the range as a filter
        int place = clauses.FindIndex(clause => clause is RangeQuery range && range.Field == first.Field);
        if (place < 0 || !TryOpen(context, first, (RangeQuery)clauses[place], out KeyRange keys))
            return null;

        var found = (RangeQuery)clauses[place];
        clauses.RemoveAt(place);
        return new OrderRange(
            found, keys, clauses.Count switch { 0 => _everything, 1 => clauses[0], _ => new AndQuery(clauses) });
    }

    /// <summary>Whether a walk in this order encounters exactly the values of the range, contiguously.</summary>
    private static bool TryOpen(QueryContext context, SortKey first, RangeQuery range, out KeyRange keys)
    {
        keys = default;
        if (range.Field != first.Field
            || OrderWalk.Obstacle(context, first) is not null
            || context.View.Dictionary(OrderWalk.Dictionary(context, first)) is null
            || !new RangeCompiler(context).TryOpen(range, out keys)
            || keys.IsLong
            || keys.Dictionary != OrderWalk.Dictionary(context, first))
            return false;
        if (!OrderWalk.IsByTextsOfNumbers(context, first))
            return true;

        // What a range leaves open, the least and the greatest of all numbers bound.
        if (context.View.TermEnds(keys.Dictionary) is var (least, greatest))
            keys = keys.Within(least, greatest);
        return keys.TryGetEnds() is var (from, to) && NumberTextCursor.IsInOneRun(from, to);
    }
}
