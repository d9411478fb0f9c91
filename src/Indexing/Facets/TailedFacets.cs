using System.Runtime.InteropServices;
using System.Text;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Searching;

namespace Treepie.Indexing.Facets;

/// <summary>
/// Counts facets over an index combined with changes not yet indexed: each side is counted separately, the index without the
/// entries that the changes replace or remove, and the groups are added up.
/// </summary>
internal static class TailedFacets
{
    /// <param name="main">The index.</param>
    /// <param name="tail">The changes.</param>
    /// <param name="request">The request.</param>
    /// <param name="options">The options of the query.</param>
    /// <param name="maxTerms">The maximum number of terms on the pages of all facets, and of one facet on either side.</param>
    /// <param name="cancellationToken">Cancels the query.</param>
    public static FacetResults Run(
        IndexView main, TailView tail, FacetRequest request, QueryOptions? options, int maxTerms,
        CancellationToken cancellationToken)
    {
        using var combined = new CombinedIndex(main, tail, cancellationToken, options);
        IndexQuery merged = ClauseMerger.Merge(combined.Main, request.Query, isScored: false); // both sides have the same clauses
        FacetRun ofMain = new(combined.Main, request with { Query = combined.Present(merged) }),
            ofTail = new(combined.Tail, request with { Query = merged });
        ofMain.Begin();
        ofTail.Begin();
        List<FacetResult> mainResults = [], tailResults = [], results = [];
        foreach (FacetQuery facet in request.Facets)
        {
            FacetQuery whole = facet with
            {
                Start = 0,
                PageSize = int.MaxValue,
                WithRemainingTerms = false,
                Order = FacetOrder.Value
            };
            int room = maxTerms - results.Sum(result => result.Values.Count + result.RemainingTerms.Count);
            FacetResult first = ofMain.Count(whole, room), second = ofTail.Count(whole, room);
            mainResults.Add(first);
            tailResults.Add(second);
            results.Add(
                facet.Field is { } field
                    ? Terms(facet, first, second, combined.Statistics.HasNumbers(main.Field(field)))
                    : Ranges(first, second));
        }

        FacetResults index = ofMain.End(mainResults), changes = ofTail.End(tailResults);
        long total = index.TotalCount + changes.TotalCount;
        return new FacetResults(
            total, results, combined.Measure(),
            index.Plan is { } plan && changes.Plan is { } planOfChanges
                ? TailedSearch.Describe(
                    plan, planOfChanges, tail, total, plan.RowsOut + planOfChanges.RowsOut,
                    combined.Main.ColdPages(combined.Measure().PagesRead))
                : null);
    }

    private static FacetResult Ranges(FacetResult first, FacetResult second) =>
        new([.. first.Values.Zip(second.Values, Sum)], [], 0, 0);

    private static FacetResult Terms(FacetQuery facet, FacetResult first, FacetResult second, bool hasNumbers)
    {
        if (facet.Start < 0 || facet.PageSize < 0)
            throw new IndexQueryException(
                $"A facet's page begins at 0 or above and has 0 values or more; {facet.Start} and {facet.PageSize} are given.");

        var groups = new Dictionary<string, FacetValue>(StringComparer.Ordinal);
        foreach (FacetValue value in first.Values.Concat(second.Values))
        {
            ref FacetValue? known = ref CollectionsMarshal.GetValueRefOrAddDefault(groups, value.Range, out bool isThere);
            known = isThere ? Sum(known!, value) : value; // an existing value is not null
        }

        List<(byte[] Key, FacetValue Value)> order =
        [
            .. groups.Values.Select(
                value => (FacetTermOrder.KeyOf(Encoding.UTF8.GetBytes(value.Range), hasNumbers), value))
        ];
        order.Sort((x, y) => FacetTermOrder.Compare(facet.Order, x.Key, x.Value.Count, y.Key, y.Value.Count));
        int end = (int)Math.Min((long)facet.Start + facet.PageSize, order.Count);
        FacetValue[] rest = [.. order.Skip(end).Select(group => group.Value)];
        return new FacetResult(
            [.. order.Take(end).Skip(facet.Start).Select(group => group.Value)],
            facet.WithRemainingTerms ? [.. rest.Select(value => value.Range)] : [],
            rest.Length,
            rest.Sum(value => value.Count));
    }

    private static FacetValue Sum(FacetValue x, FacetValue y) =>
        new(x.Range, x.Count + y.Count, [.. x.Figures.Zip(y.Figures, Sum)]);

    private static FacetFigures Sum(FacetFigures x, FacetFigures y) => x.Count == 0 ? y : y.Count == 0 ? x : new FacetFigures(
        x.Count + y.Count, x.Sum + y.Sum, Math.Min(x.Min, y.Min), Math.Max(x.Max, y.Max));
}
