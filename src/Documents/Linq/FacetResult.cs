namespace Treepie.Linq;

/// <summary>The result of a facet.</summary>
/// <param name="Name">The name of the facet.</param>
/// <param name="Values">The values or ranges of the facet.</param>
public sealed record FacetResult(string Name, IReadOnlyList<FacetValue> Values);
