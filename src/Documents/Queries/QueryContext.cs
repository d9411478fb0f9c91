using Treepie.Queries.Binding;

namespace Treepie.Queries;

/// <summary>One run of a query.</summary>
/// <param name="Request">The request.</param>
/// <param name="Query">The bound query.</param>
/// <param name="TimeProvider">The clock.</param>
/// <param name="Started">The timestamp at which it started, in ticks of the clock.</param>
/// <param name="CancellationToken">Cancels the query, also while results are read.</param>
internal sealed record QueryContext(
    QueryRequest Request, BoundQuery Query, TimeProvider TimeProvider, long Started, CancellationToken CancellationToken)
{
    /// <summary>Whether results are whole documents, each of which is returned once.</summary>
    public bool ReturnsDocuments => Request is { SkipDuplicateChecking: false, IndexEntries: false }
        && (Request.MetadataOnly || (Query.Projection is null && Query.Script is not { Selects: true }));

    /// <summary>The maximum number of distinct rows of a query with <c>distinct</c>.</summary>
    public int MaxDistinctResults { get; init; } = int.MaxValue;

    /// <summary>The maximum total time of its scripts.</summary>
    public TimeSpan MaxScriptTime { get; init; } = TimeSpan.MaxValue;

    /// <summary>Called with the duration when the results have been read, and the index; null: nothing is called.</summary>
    public Action<string, TimeSpan>? Executed { get; init; }

    /// <summary>The duration of each phase; null unless timings were requested or the query is traced.</summary>
    public QueryPhases? Phases { get; init; }
}
