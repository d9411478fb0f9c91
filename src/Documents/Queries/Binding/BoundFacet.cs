using Treepie.Indexing.Queries;

namespace Treepie.Queries.Binding;

/// <summary>A facet of SELECT: what is counted, and how its sums are called.</summary>
/// <param name="Name">Its name in the answer.</param>
/// <param name="Query">What is counted.</param>
/// <param name="Sums">Sums that are wanted, in the order in which they were first named by field: those of one field are one
/// value of the answer.</param>
internal sealed record BoundFacet(string Name, FacetQuery Query, IReadOnlyList<FacetSums> Sums);

/// <summary>The sums over one field.</summary>
/// <param name="Field">The field, as the index calls it.</param>
/// <param name="Name">Its name in the answer.</param>
/// <param name="Kinds">Which are wanted.</param>
internal sealed record FacetSums(string Field, string Name, FacetSumKinds Kinds);

/// <summary>Sums over a field.</summary>
[Flags]
internal enum FacetSumKinds
{
    None = 0,
    Sum = 1,
    Min = 2,
    Max = 4,
    Average = 8,
}
