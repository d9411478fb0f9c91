using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Sorting;
using Treepie.Indexing.Terms;
using SortKey = Treepie.Indexing.Queries.SortKey;

namespace Treepie.Indexing.Searching;

/// <summary>
/// A range over the field that hits are ordered by first, taken out of a query: a walk along the values of that field begins and
/// ends with it, so that nothing outside is looked at, and no entry has to be asked whether it is inside.
/// </summary>
/// <param name="Query">The range.</param>
/// <param name="Keys">The values between its bounds.</param>
/// <param name="Rest">What the query asks besides; everything, where it asks nothing else.</param>
internal sealed record OrderRange(RangeQuery Query, KeyRange Keys, IndexQuery Rest)
{
    private static readonly MatchAllQuery _everything = new();

    /// <summary>Whether the range is all that is asked.</summary>
    public bool IsAll => Rest is MatchAllQuery;

    /// <summary>
    /// Entries among which a walk meets the hits: those of the range it stays in, where hits are of the range and it was counted;
    /// else all.
    /// </summary>
    public static long EntriesMet(QueryContext context, OrderRange? range, bool isWithoutRange) =>
        !isWithoutRange && range is not null && context.Counted(range.Query) is { } count
            ? count.Entries
            : context.View.State.EntryCount;

    /// <summary>The range of a request; null if there is none, or the order cannot be walked.</summary>
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
            return null; // it looks among the entries of the range
        int place = clauses.FindIndex(clause => clause is RangeQuery range && range.Field == first.Field);
        if (place < 0 || !TryOpen(context, first, (RangeQuery)clauses[place], out KeyRange keys))
            return null;

        var found = (RangeQuery)clauses[place];
        clauses.RemoveAt(place);
        return new OrderRange(
            found, keys, clauses.Count switch { 0 => _everything, 1 => clauses[0], _ => new AndQuery(clauses) });
    }

    /// <summary>Whether a walk in this order meets the values of a range, and nothing else, one after the other.</summary>
    private static bool TryOpen(QueryContext context, SortKey first, RangeQuery range, out KeyRange keys)
    {
        keys = default;
        return range.Field == first.Field
            && OrderWalk.Obstacle(context, first) is null
            && new RangeCompiler(context).TryOpen(range, out keys)
            && !keys.IsLong
            && keys.Dictionary == OrderWalk.Dictionary(context, first)
            && (!OrderWalk.IsByTextsOfNumbers(context, first)
                || (keys.TryGetEnds() is var (from, to) && NumberTextCursor.IsInOneRun(from, to)));
    }
}
