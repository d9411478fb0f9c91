using System.Text.Json;

namespace Treepie.Queries;

/// <summary>A query as it is asked.</summary>
public sealed record QueryRequest
{
    /// <summary>RQL.</summary>
    public required string Text { get; init; }

    /// <summary>A JSON object of parameters, by name without <c>$</c>; undefined: none.</summary>
    public JsonElement Parameters { get; init; }

    /// <summary>Wait until the index has everything committed before the query.</summary>
    public bool WaitForNonStaleResults { get; init; }

    /// <summary>
    /// The answer is that of an index which has seen every document of the answer's snapshot, without waiting for it: what it has
    /// not seen is indexed in memory, for this query. As <c>include neverStale()</c> in the text. Only an index that is further
    /// behind than 16,384 changes, or is being built, is waited for.
    /// </summary>
    public bool NeverStale { get; init; }

    /// <summary>Longest such wait; null takes the database's default.</summary>
    public TimeSpan? WaitTimeout { get; init; }

    /// <summary>Where <c>select</c> takes values from.</summary>
    public ProjectionBehavior ProjectionBehavior { get; init; }

    /// <summary>Results carry their metadata only.</summary>
    public bool MetadataOnly { get; init; }

    /// <summary>
    /// Results are what the index has of each hit, by field, instead of documents: for people who wonder why something is found
    /// or not. The query has to be one that an index answers; what it selects and includes is passed over.
    /// </summary>
    public bool IndexEntries { get; init; }

    /// <summary>
    /// What <see cref="QueryResults.Continuation"/> gave: the page behind it, which costs what the first one did. The query has
    /// to be the same, and one that an index answers.
    /// </summary>
    public string? Continuation { get; init; }

    /// <summary>Whether the answer is to have a <see cref="QueryResults.Continuation"/>.</summary>
    public bool WithContinuation { get; init; }

    /// <summary>
    /// Most pages of the index it may read, from 1 on; null: as many as it needs. The same query on the same index is always
    /// stopped, or never.
    /// </summary>
    public long? MaxPages { get; init; }

    /// <summary>
    /// Most entries it may look at one by one, from 1 on; null: as many as it needs. As <see cref="MaxPages"/>.
    /// </summary>
    public long? MaxEntries { get; init; }

    /// <summary>Most time for finding the results; null: <see cref="DatabaseOptions.MaxQueryTime"/> alone.</summary>
    public TimeSpan? MaxTime { get; init; }

    /// <summary>
    /// Whether <see cref="QueryResults.TotalResults"/> has to be the number of all matches. Where it has not, a page of an order
    /// ends with its last result, and the best by score are found without looking at what cannot be among them:
    /// <see cref="QueryResults.IsTotalExact"/> says which it is.
    /// </summary>
    public bool CountsResults { get; init; } = true;

    /// <summary>Says when the query may work; null: at once.</summary>
    public IQueryAdmission? Admission { get; init; }

    /// <summary>Whether the answer tells how it was found, as with <c>include timings()</c>.</summary>
    public bool WithTimings { get; init; }

    /// <summary>
    /// Whether <see cref="QueryResults.DescribePlan"/> tells how results were found, though the answer does not. It costs
    /// counting, and no look at a clock.
    /// </summary>
    public bool WithPlan { get; init; }

    /// <summary>Whether what <c>update</c> says is done by whoever asks; see <see cref="PatchQuery"/>.</summary>
    internal bool IgnoresUpdate { get; init; }

    /// <summary>Skip given apart from the text (never by clients of the wire).</summary>
    public long Start { get; init; }

    /// <summary>Most results given apart from the text.</summary>
    public long PageSize { get; init; } = long.MaxValue;
}
