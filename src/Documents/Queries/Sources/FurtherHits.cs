using Treepie.Indexing;

namespace Treepie.Queries.Sources;

/// <summary>
/// Searches for the hits after those of a page, in growing portions, for a page that is not full because some of its hits were
/// left out.
/// </summary>
/// <param name="search">Searches the same view again for a number of hits after a number of others.</param>
/// <param name="skip">The number of hits before the page.</param>
/// <param name="take">The maximum number of hits of the page.</param>
internal sealed class FurtherHits(Func<long, long, SearchResults> search, long skip, long take)
{
    private long _skip = skip;
    private long _take = take;

    /// <summary>Returns the hits after the last ones that were found, or null if there are none.</summary>
    public SearchResults? After(SearchResults hits)
    {
        if (hits.Count == 0 || hits.Count < _take)
            return null;
        _skip += _take;
        _take *= 2; // cannot overflow: as many hits were found
        return search(_skip, _take);
    }
}
