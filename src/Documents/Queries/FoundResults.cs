using Treepie.Queries.Notes;
using Treepie.Queries.Sources;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>What was found, before anything of it is read. Whoever has it disposes snapshot and source.</summary>
internal sealed record FoundResults(DatabaseSnapshot Snapshot, ResultSource Source, string IndexName)
{
    /// <summary>The index that answers, and how far it is; null where none does.</summary>
    public IndexAnswer? Answer { get; init; }

    /// <summary>Takes notes of results where the query asks for them.</summary>
    public ResultNotes? Notes { get; init; }

    /// <summary>
    /// What the answer is where it is no documents: a JSON object for each facet or list of suggestions; null where it is
    /// documents.
    /// </summary>
    public IReadOnlyList<byte[]>? ComputedRows { get; init; }

    /// <summary>Terms that may have been meant, where the query asks for them.</summary>
    public IReadOnlyList<SuggestionResult> Suggestions { get; init; } = [];

    /// <summary>How the index found them; null where it was not asked, or nobody wants to know.</summary>
    public Indexing.Plans.PlanNode? Plan { get; init; }

    /// <summary>How the documents themselves answer; null where an index does, or nobody wants to know.</summary>
    public Plans.ScanPlan? Scan { get; init; }

    /// <summary>What that took.</summary>
    public Indexing.QueryCounters Counters { get; init; }

    /// <summary>What is said beside the answer.</summary>
    public IReadOnlyList<string> Warnings { get; init; } = [];

    /// <summary>The position behind the page; null where there is none.</summary>
    public byte[]? Position { get; init; }
}
