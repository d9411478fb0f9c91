namespace Treepie.Linq;

/// <summary>A group of a facet.</summary>
/// <param name="Range">The value, or the condition, that its documents have in common.</param>
/// <param name="Count">How many documents.</param>
public sealed record FacetValue(string Range, long Count)
{
    /// <summary>The member that the sums are about; null without.</summary>
    public string? Member { get; init; }

    /// <summary>The sum, where it was asked for.</summary>
    public double? Sum { get; init; }

    /// <summary>The least value, where it was asked for.</summary>
    public double? Min { get; init; }

    /// <summary>The greatest value, where it was asked for.</summary>
    public double? Max { get; init; }

    /// <summary>The average, where it was asked for.</summary>
    public double? Average { get; init; }
}
