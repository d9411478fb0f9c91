using Treepie.Indexes.Fields;
using Treepie.Kinds;

namespace Treepie.Queries.Projecting;

/// <summary>Data stored outside documents that INCLUDE requests for each result. Immutable.</summary>
/// <param name="Kind">What kind of data.</param>
/// <param name="Owner">The path of the owning document's id, the key or the change vector; null for the result
/// itself.</param>
internal sealed record BesideInclude(BesideIncludeKind Kind, FieldPath? Owner)
{
    /// <summary>Its name; null for all counters or time series.</summary>
    public string? Name { get; init; }

    public DateTime? From { get; init; }

    public DateTime? To { get; init; }

    public int? LastCount { get; init; }

    public TimeSeriesPeriod? LastTime { get; init; }
}

/// <summary>The kind of included data.</summary>
internal enum BesideIncludeKind
{
    Counter,
    TimeSeries,
    CompareExchange,

    /// <summary>Revisions whose change vectors a member contains.</summary>
    Revision,

    /// <summary>The revision that was current at a time.</summary>
    RevisionBefore,
}
