using Treepie.Queries.Binding;

namespace Treepie.Queries;

/// <summary>One run of a query.</summary>
/// <param name="Request">As it was asked.</param>
/// <param name="Query">What it means.</param>
/// <param name="TimeProvider">The clock.</param>
/// <param name="Started">When it began, in ticks of the clock.</param>
/// <param name="CancellationToken">Ends it, also while results are read.</param>
internal sealed record QueryContext(
    QueryRequest Request, BoundQuery Query, TimeProvider TimeProvider, long Started, CancellationToken CancellationToken)
{
    /// <summary>Most rows that <c>distinct</c> tells apart.</summary>
    public int MaxDistinctResults { get; init; } = int.MaxValue;

    /// <summary>Longest time that its scripts take together.</summary>
    public TimeSpan MaxScriptTime { get; init; } = TimeSpan.MaxValue;

    /// <summary>How long its parts took.</summary>
    public required QueryPhases Phases { get; init; }
}
