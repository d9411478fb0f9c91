using Treepie.Indexing.Analysis;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>What indexes need of their database.</summary>
/// <param name="BeginRead">Opens a snapshot of the documents.</param>
/// <param name="Changes">Wakes whoever waits for changes.</param>
/// <param name="TimeProvider">The clock.</param>
/// <param name="Analyzers">The analyzers that fields can name.</param>
internal sealed record IndexingContext(Func<DatabaseSnapshot> BeginRead, ChangeSignal Changes, TimeProvider TimeProvider, AnalyzerSet Analyzers)
{
    /// <summary>Lets so many threads index at a time: half of the processors, so that queries and writes keep the other half.</summary>
    public IndexingTurns Turns { get; } = new(Math.Max(1, Environment.ProcessorCount / 2));
}
