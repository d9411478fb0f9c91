using Treepie.Indexes.Definitions;
using Treepie.Indexing.Analysis;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Indexes;

/// <summary>What indexes need of their database.</summary>
/// <param name="BeginRead">Opens a snapshot of the documents.</param>
/// <param name="Changes">Wakes whoever waits for changes.</param>
/// <param name="TimeProvider">The clock.</param>
/// <param name="Analyzers">The analyzers of the program.</param>
/// <param name="Options">Threads and budgets.</param>
/// <param name="Computing">Compiles what computes; null: nothing does.</param>
/// <param name="Write">Writes documents that indexes make; null: they write none.</param>
internal sealed record IndexingContext(
    Func<DatabaseSnapshot> BeginRead, ChangeSignal Changes, TimeProvider TimeProvider, AnalyzerSet Analyzers,
    IndexingOptions Options, ComputingEngine? Computing = null, Func<WriteBatch, CancellationToken, Task>? Write = null)
{
    /// <summary>Lets so many indexes work at a time, so that queries and writes keep processors.</summary>
    public IndexingTurns Turns { get; } = new(Options.IndexesAtWork);

    /// <summary>Lets one index at a time write documents.</summary>
    public SemaphoreSlim OutputTurn { get; } = new(1);

    /// <summary>The threads they work on where there is much to do. Ended by the catalogue.</summary>
    public QuietWorkers Workers { get; } = new();

    /// <summary>Keeps something that is set of the database, or forgets it; null: nothing is kept.</summary>
    public Action<string, byte[]?>? WriteSetting { get; init; }

    /// <summary>The analyzers that the database shares with others.</summary>
    public Func<IReadOnlyCollection<AnalyzerDefinition>> SharedAnalyzers { get; init; } = static () => [];

    /// <summary>The custom analyzers that fields can refer to now: shared ones, and those of the database, which take
    /// precedence.</summary>
    public CustomAnalyzers CustomAnalyzers()
    {
        using DatabaseSnapshot snapshot = BeginRead();
        return Definitions.CustomAnalyzers.Of(snapshot).Over(SharedAnalyzers());
    }

    /// <summary>All analyzers that fields can refer to now: those of the program, and custom ones.</summary>
    public AnalyzerSet AllAnalyzers() => CustomAnalyzers().Over(Analyzers);
}
