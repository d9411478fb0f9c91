using Treepie.Indexing.Analysis;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>What indexes need of their database.</summary>
/// <param name="BeginRead">Opens a snapshot of the documents.</param>
/// <param name="Changes">Wakes whoever waits for changes.</param>
/// <param name="TimeProvider">The clock.</param>
/// <param name="Analyzers">The analyzers that fields can name.</param>
/// <param name="Options">Threads and budgets.</param>
/// <param name="Computing">Compiles what computes; null: nothing does.</param>
internal sealed record IndexingContext(
    Func<DatabaseSnapshot> BeginRead, ChangeSignal Changes, TimeProvider TimeProvider, AnalyzerSet Analyzers,
    IndexingOptions Options, ComputingEngine? Computing = null)
{
    /// <summary>Lets so many indexes work at a time, so that queries and writes keep processors.</summary>
    public IndexingTurns Turns { get; } = new(Options.IndexesAtWork);

    /// <summary>The threads they work on where there is much to do. Ended by the catalogue.</summary>
    public QuietWorkers Workers { get; } = new();
}
