using System.Text;
using Treepie.Indexing;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Queries.Binding;
using Treepie.Queries.Sources;
using Treepie.Store;

namespace Treepie.Queries.Faceting;

/// <summary>
/// Applies <c>filter</c> before facets, which an index counts: each document is examined once, and the ids of those that pass
/// become a condition of the facets.
/// </summary>
internal static class ExaminedHits
{
    /// <summary>Filters the hits of a query. The caller keeps its view and its snapshot.</summary>
    /// <param name="context">The query with its filter.</param>
    /// <param name="state">The index.</param>
    /// <param name="searcher">Its view.</param>
    /// <param name="tail">What the view lacks, or null.</param>
    /// <param name="snapshot">The documents.</param>
    /// <param name="cancellationToken">Cancels the operation.</param>
    /// <returns>The condition that holds for the hits that passed, and the plan of the examination, if one is wanted.</returns>
    /// <exception cref="InvalidQueryException">Too many documents pass.</exception>
    public static (IndexQuery Condition, PlanNode? Plan) Find(
        QueryContext context, IndexAnswer state, IndexSearcher searcher, IndexTail? tail, DatabaseSnapshot snapshot,
        CancellationToken cancellationToken)
    {
        BoundQuery query = context.Query with { Facets = [], Skip = 0, Take = long.MaxValue };
        QueryContext examining = context with
        {
            Query = query,
            Request = context.Request with { CountsResults = false },
            CancellationToken = cancellationToken,
            Executed = null,
        };
        SearchRequest request = RequestedPage.SearchOf(examining, SearchedPage.Of(query, isOnce: false));
        QueryOptions? options = RequestedPage.OptionsOf(context);
        using SearchResults hits = tail is null
            ? searcher.Search(request, options, cancellationToken)
            : searcher.Search(request, tail, options, cancellationToken);
        using var source = new IndexSource(
            state.Index, searcher, hits, snapshot, isScored: false, state.MayMissHits, isInOrder: true, tail)
        {
            IsBorrowing = true
        };
        var found = new FoundResults(snapshot, source, state.Index.Name)
        {
            Answer = state,
            Plan = hits.Plan,
            Counters = hits.Counters,
        };
        var results = new QueryResults(examining, found); // not disposed: the snapshot is the caller's
        var passed = new HashSet<string>(StringComparer.Ordinal);
        while (results.MoveNext())
        {
            passed.Add(Encoding.UTF8.GetString(source.FoldedId));
            if (passed.Count > context.MaxDistinctResults)
                throw new InvalidQueryException(
                    $"'filter' lets more than {context.MaxDistinctResults:N0} documents pass, whose ids facets keep "
                        + "(MaxDistinctResults). Narrow the condition, or ask an index for a field that computes it.");
        }

        return (new AndQuery([context.Query.Condition, new KeyQuery([.. passed])]), results.Plan);
    }
}
