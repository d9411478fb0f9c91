using Treepie.Queries.Notes;
using Treepie.Queries.Sources;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>What was found, before anything of it is read. Whoever has it disposes snapshot and source.</summary>
internal sealed record FoundResults(DatabaseSnapshot Snapshot, ResultSource Source, string IndexName)
{
    public bool IsStale { get; init; }

    public DateTime IndexTimestamp { get; init; }

    public long ResultEtag { get; init; }

    /// <summary>Takes notes of results where the query asks for them.</summary>
    public ResultNotes? Notes { get; init; }
}
