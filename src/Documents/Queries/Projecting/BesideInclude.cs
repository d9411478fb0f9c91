using Treepie.Indexes.Fields;

namespace Treepie.Queries.Projecting;

/// <summary>What INCLUDE asks for of each result that lies beside documents. Immutable.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Owner">Where the id of its document, the key or the change vector stands; null: the document itself.</param>
internal sealed record BesideInclude(BesideIncludeKind Kind, FieldPath? Owner)
{
    /// <summary>Its name; of counters null for all.</summary>
    public string? Name { get; init; }

    public DateTime? From { get; init; }

    public DateTime? To { get; init; }

    public int? LastCount { get; init; }

    public TimeSpan? LastTime { get; init; }
}

/// <summary>What is included.</summary>
internal enum BesideIncludeKind
{
    Counter,
    TimeSeries,
    CompareExchange,

    /// <summary>By the change vectors that a member holds.</summary>
    Revision,

    /// <summary>As they were at a time.</summary>
    RevisionBefore,
}
