using System.Text.Json;

namespace Treepie.Queries;

/// <summary>A query with its parameters and options.</summary>
public sealed record QueryRequest
{
    /// <summary>The query in RQL.</summary>
    public required string Text { get; init; }

    /// <summary>A JSON object with the values of the parameters, by name without <c>$</c>; undefined: none.</summary>
    public JsonElement Parameters { get; init; }

    /// <summary>Waits until the index has processed everything committed before the query.</summary>
    public bool WaitForNonStaleResults { get; init; }

    /// <summary>
    /// Returns results that are never stale, without waiting for the index: changes that it has not processed are indexed in
    /// memory for this query. Same as <c>include neverStale()</c> in the query. The query waits only for an index that is more
    /// than 16,384 changes behind or is still being built.
    /// </summary>
    public bool NeverStale { get; init; }

    /// <summary>The maximum time to wait for the index. Null: the database's default.</summary>
    public TimeSpan? WaitTimeout { get; init; }

    /// <summary>Where <c>select</c> takes the values of fields from.</summary>
    public ProjectionBehavior ProjectionBehavior { get; init; }

    /// <summary>
    /// Whether a document is returned once for each of its matching entries, if the index has several entries of it. If not, it
    /// is returned once, and <see cref="QueryResults.SkippedResults"/> counts its other entries. Only concerns whole documents.
    /// </summary>
    public bool SkipDuplicateChecking { get; init; }

    /// <summary>Returns only the metadata of the results.</summary>
    public bool MetadataOnly { get; init; }

    /// <summary>
    /// Returns the index entry of each match, by field, instead of the document, for debugging. The query must be answered by an
    /// index; its <c>select</c> and <c>include</c> clauses are ignored.
    /// </summary>
    public bool IndexEntries { get; init; }

    /// <summary>
    /// The <see cref="QueryResults.Continuation"/> of the previous page. Returns the page after it, at the same cost as the first
    /// page. The query must be the same.
    /// </summary>
    public string? Continuation { get; init; }

    /// <summary>Whether to provide a <see cref="QueryResults.Continuation"/>.</summary>
    public bool WithContinuation { get; init; }

    /// <summary>
    /// The maximum number of index pages that the query may read, at least 1. Null: unlimited. Deterministic: the same query on
    /// the same index always exceeds it or never does.
    /// </summary>
    public long? MaxPages { get; init; }

    /// <summary>
    /// The maximum number of entries that the query may examine individually, at least 1. Null: unlimited. Deterministic, like
    /// <see cref="MaxPages"/>.
    /// </summary>
    public long? MaxEntries { get; init; }

    /// <summary>The maximum time for finding the results. Null: only <see cref="DatabaseOptions.MaxQueryTime"/>
    /// applies.</summary>
    public TimeSpan? MaxTime { get; init; }

    /// <summary>
    /// Whether <see cref="QueryResults.TotalResults"/> must be the exact number of matches. If not, a query can stop after the
    /// last result of the page, and one sorted by score skips entries that cannot be among the best;
    /// <see cref="QueryResults.IsTotalExact"/> tells whether the number is exact.
    /// </summary>
    public bool CountsResults { get; init; } = true;

    /// <summary>Controls when the query may run. Null: immediately.</summary>
    public IQueryAdmission? Admission { get; init; }

    /// <summary>Whether the results contain the query plan and timings, as with <c>include timings()</c>.</summary>
    public bool WithTimings { get; init; }

    /// <summary>
    /// Whether <see cref="QueryResults.DescribePlan"/> is available even if the results contain no timings. Counts entries, but
    /// takes no timestamps.
    /// </summary>
    public bool WithPlan { get; init; }

    /// <summary>Whether the <c>update</c> clause is executed by the caller; see <see cref="PatchQuery"/>.</summary>
    internal bool IgnoresUpdate { get; init; }

    /// <summary>
    /// Whether documents are examined one by one for conditions of <c>where</c> that no index answers, such as comparisons of
    /// fields. If not, these are refused; <c>filter</c> examines documents in any case.
    /// </summary>
    public bool ExaminesDocuments { get; init; } = true;

    /// <summary>The number of results to skip, in addition to what the text of the query skips.</summary>
    public long Start { get; init; }

    /// <summary>The maximum number of results, in addition to the limit in the text of the query.</summary>
    public long PageSize { get; init; } = long.MaxValue;
}
