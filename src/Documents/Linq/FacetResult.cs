namespace Treepie.Linq;

/// <summary>What a facet counted.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Values">Its groups.</param>
public sealed record FacetResult(string Name, IReadOnlyList<FacetValue> Values);
