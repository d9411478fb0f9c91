using Treepie.Indexing.Plans;

namespace Treepie.Indexing;

/// <summary>The results of a facet request.</summary>
/// <param name="TotalCount">The total number of hits.</param>
/// <param name="Facets">The result of each facet, in the order of the request.</param>
/// <param name="Counters">The work done.</param>
/// <param name="Plan">The query plan; null unless requested.</param>
public sealed record FacetResults(long TotalCount, IReadOnlyList<FacetResult> Facets, QueryCounters Counters, PlanNode? Plan);

/// <summary>The result of one facet.</summary>
/// <param name="Values">The values of the page. Terms without hits are left out, ranges are not.</param>
/// <param name="RemainingTerms">The terms after the page, if requested.</param>
/// <param name="RemainingTermsCount">The number of terms after the page.</param>
/// <param name="RemainingHits">The total number of hits of those terms.</param>
public sealed record FacetResult(
    IReadOnlyList<FacetValue> Values, IReadOnlyList<string> RemainingTerms, long RemainingTermsCount, long RemainingHits);

/// <summary>One value of a facet.</summary>
/// <param name="Range">The term, or the name of the range.</param>
/// <param name="Count">The number of hits.</param>
/// <param name="Figures">The aggregates over its hits, one for each requested field.</param>
public sealed record FacetValue(string Range, long Count, IReadOnlyList<FacetFigures> Figures);

/// <summary>Aggregates over the numbers of a field.</summary>
/// <param name="Count">The number of hits with a number.</param>
/// <param name="Sum">The sum.</param>
/// <param name="Min">The minimum; 0 if there are no numbers.</param>
/// <param name="Max">The maximum; 0 if there are no numbers.</param>
public readonly record struct FacetFigures(long Count, double Sum, double Min, double Max)
{
    /// <summary>The average; 0 if there are no numbers.</summary>
    public double Average => Count == 0 ? 0 : Sum / Count;

    /// <summary>Returns a copy with one more number.</summary>
    public FacetFigures With(double number) =>
        new(Count + 1, Sum + number, Count == 0 ? number : Math.Min(Min, number), Count == 0 ? number : Math.Max(Max, number));
}
