using Treepie.Queries.Notes;
using Treepie.Queries.Sources;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>What a query found, before any result is read. The owner must dispose the snapshot and the source.</summary>
internal sealed record FoundResults(DatabaseSnapshot Snapshot, ResultSource Source, string IndexName)
{
    /// <summary>The index that answers and its progress, or null if no index is used.</summary>
    public IndexAnswer? Answer { get; init; }

    /// <summary>
    /// Whether documents may occur several times among the results and are returned once. Then the first
    /// <see cref="LeftToSkip"/> results are before the page.
    /// </summary>
    public bool HasSeveralOfDocument { get; init; }

    /// <summary>See <see cref="HasSeveralOfDocument"/>.</summary>
    public long LeftToSkip { get; init; }

    /// <summary>
    /// The number of documents whose rows are known to be duplicates, and which are not among the results for that reason.
    /// </summary>
    public long LeftOut { get; init; }

    /// <summary>Collects highlights and score explanations, if the query requests them.</summary>
    public ResultNotes? Notes { get; init; }

    /// <summary>
    /// The rows of a computed result: a JSON object for each facet or list of suggestions. Null if the results are documents.
    /// </summary>
    public IReadOnlyList<byte[]>? ComputedRows { get; init; }

    /// <summary>The suggestions, if the query requests them.</summary>
    public IReadOnlyList<SuggestionResult> Suggestions { get; init; } = [];

    /// <summary>The plan that the index executed. Null if no index was used or no plan was requested.</summary>
    public Indexing.Plans.PlanNode? Plan { get; init; }

    /// <summary>The plan of a scan of documents. Null if an index was used or no plan was requested.</summary>
    public Plans.ScanPlan? Scan { get; init; }

    /// <summary>The work that the search did.</summary>
    public Indexing.QueryCounters Counters { get; init; }

    /// <summary>Warnings that are returned with the results.</summary>
    public IReadOnlyList<string> Warnings { get; init; } = [];

    /// <summary>The position to continue after this page, or null if there is none.</summary>
    public byte[]? Position { get; init; }
}
