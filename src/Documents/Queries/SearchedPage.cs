using Treepie.Queries.Binding;

namespace Treepie.Queries;

/// <summary>The hits that an index is searched for, to find the page of a query.</summary>
/// <param name="Skip">The number of hits that the index skips.</param>
/// <param name="Take">The maximum number of hits after these.</param>
/// <param name="LeftToSkip">How many of the hits found are before the page.</param>
internal readonly record struct SearchedPage(long Skip, long Take, long LeftToSkip)
{
    /// <summary>The number of hits that are worth a search of their own, to find distinct rows or documents.</summary>
    public const long Portion = 1_024;

    /// <summary>Returns the hits to search for.</summary>
    /// <param name="query">The query.</param>
    /// <param name="isOnce">Whether a document with several hits is returned once. Then it must be known which documents the
    /// hits before the page are of: in entry order the last of these tells.</param>
    /// <param name="canGoOn">Whether hits after these are searched for if the page is not full.</param>
    public static SearchedPage Of(BoundQuery query, bool isOnce, bool canGoOn = false)
    {
        if (query.Filters)
            return new SearchedPage(0, query.FilterLimit, 0);
        if (!isOnce)
            return new SearchedPage(
                query.Skip,
                !query.Distinct || query.Take == 0 ? query.Take
                : canGoOn ? Math.Max(query.Take, Portion)
                : long.MaxValue,
                0);
        long left = query.Sort.Count == 0 ? Math.Min(query.Skip, 1) : query.Skip;
        return new SearchedPage(
            query.Skip - left, query.Take > long.MaxValue - left ? long.MaxValue : query.Take + left, left);
    }
}
