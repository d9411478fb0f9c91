using Treepie.Indexing.Queries;

namespace Treepie.Queries.Binding;

/// <summary>A facet of SELECT: what to count, and the names of its aggregates.</summary>
/// <param name="Name">Its name in the result.</param>
/// <param name="Query">What to count.</param>
/// <param name="Sums">The requested aggregates, in the order in which their fields first appear. Aggregates of the same field
/// form one value of the result.</param>
/// <param name="IsMoments">Whether its terms are moments, whose letters are capitals.</param>
internal sealed record BoundFacet(
    string Name, FacetQuery Query, IReadOnlyList<FacetSums> Sums, bool IsMoments = false)
{
    /// <summary>What is read of each hit before it is counted; null if the index has it.</summary>
    public ExaminedFacet? Examined { get; init; }

    /// <summary>The terms after the page, if they are known before the index counts; otherwise null.</summary>
    public RemainingTerms? Remaining { get; init; }
}

/// <summary>The aggregates of one field.</summary>
/// <param name="Field">The field's name in the index schema.</param>
/// <param name="Name">Its name in the result.</param>
/// <param name="Kinds">Which aggregates are requested.</param>
internal sealed record FacetSums(string Field, string Name, FacetSumKinds Kinds);

/// <summary>Aggregates of a field.</summary>
[Flags]
internal enum FacetSumKinds
{
    None = 0,
    Sum = 1,
    Min = 2,
    Max = 4,
    Average = 8,
}
