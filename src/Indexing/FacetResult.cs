using Treepie.Indexing.Plans;

namespace Treepie.Indexing;

/// <summary>The groups of a query's hits.</summary>
/// <param name="TotalCount">Hits in all.</param>
/// <param name="Facets">A result for each grouping, in the order of the request.</param>
/// <param name="Counters">What it took.</param>
/// <param name="Plan">How it was done; null unless it was asked for.</param>
public sealed record FacetResults(long TotalCount, IReadOnlyList<FacetResult> Facets, QueryCounters Counters, PlanNode? Plan);

/// <summary>One grouping.</summary>
/// <param name="Values">The groups of the page. Terms without a hit are left out, ranges are not.</param>
/// <param name="RemainingTerms">Terms behind the page, where they were asked for.</param>
/// <param name="RemainingTermsCount">How many they are.</param>
/// <param name="RemainingHits">Hits of those terms, added up.</param>
public sealed record FacetResult(
    IReadOnlyList<FacetValue> Values, IReadOnlyList<string> RemainingTerms, long RemainingTermsCount, long RemainingHits);

/// <summary>One group.</summary>
/// <param name="Range">The term, or the name of the range.</param>
/// <param name="Count">Its hits.</param>
/// <param name="Figures">Sums over its hits, one for each field asked for.</param>
public sealed record FacetValue(string Range, long Count, IReadOnlyList<FacetFigures> Figures);

/// <summary>Sums over the numbers of a field.</summary>
/// <param name="Count">Hits that have a number there.</param>
/// <param name="Sum">Their sum.</param>
/// <param name="Min">The least; 0 where there is none.</param>
/// <param name="Max">The greatest; 0 where there is none.</param>
public readonly record struct FacetFigures(long Count, double Sum, double Min, double Max)
{
    /// <summary>The mean; 0 where there is none.</summary>
    public double Average => Count == 0 ? 0 : Sum / Count;

    /// <summary>With one more number.</summary>
    public FacetFigures With(double number) =>
        new(Count + 1, Sum + number, Count == 0 ? number : Math.Min(Min, number), Count == 0 ? number : Math.Max(Max, number));
}
