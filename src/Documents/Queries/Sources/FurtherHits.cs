using Treepie.Indexing;

namespace Treepie.Queries.Sources;

/// <summary>
/// Searches for the hits after those of a page, for a page that is not full because some of its hits were left out: first for a
/// larger portion, then for all that are left, as each search evaluates the condition again.
/// </summary>
/// <param name="search">Searches the same view again for a number of hits after a number of others.</param>
/// <param name="skip">The number of hits before the page.</param>
/// <param name="take">The maximum number of hits of the page.</param>
internal sealed class FurtherHits(Func<long, long, SearchResults> search, long skip, long take)
{
    private long _skip = skip;
    private long _take = take;
    private bool _isSecond = true;

    /// <summary>Returns the hits after the last ones that were found, or null if there are none.</summary>
    public SearchResults? After(SearchResults hits)
    {
        if (hits.Count == 0 || hits.Count < _take)
            return null;
        _skip += _take;
        _take = _isSecond ? Math.Max(_take * 2, SearchedPage.Portion) : long.MaxValue; // cannot overflow: as many were found
        _isSecond = false;
        return search(_skip, _take);
    }
}
