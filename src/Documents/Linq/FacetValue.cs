namespace Treepie.Linq;

/// <summary>A value or range of a facet.</summary>
/// <param name="Range">The value, or the condition of the range.</param>
/// <param name="Count">The number of matching documents.</param>
public sealed record FacetValue(string Range, long Count)
{
    /// <summary>The member that is aggregated; null if none is.</summary>
    public string? Member { get; init; }

    /// <summary>The sum of the member; null unless requested.</summary>
    public double? Sum { get; init; }

    /// <summary>The minimum of the member; null unless requested.</summary>
    public double? Min { get; init; }

    /// <summary>The maximum of the member; null unless requested.</summary>
    public double? Max { get; init; }

    /// <summary>The average of the member; null unless requested.</summary>
    public double? Average { get; init; }
}
