using Treepie.Indexes.Definitions;
using Treepie.Indexing.Analysis;
using Treepie.Storage;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Indexes;

/// <summary>The services of the database that indexes use.</summary>
/// <param name="BeginRead">Opens a snapshot of the documents.</param>
/// <param name="Changes">Signals changes.</param>
/// <param name="TimeProvider">The clock.</param>
/// <param name="Analyzers">The analyzers provided by the program.</param>
/// <param name="Options">The numbers of threads and the limits.</param>
/// <param name="Computing">Compiles maps and reduces in C# or JavaScript; null if there is no such engine.</param>
/// <param name="Write">Writes documents produced by indexes; null if they must not write any.</param>
internal sealed record IndexingContext(
    Func<DatabaseSnapshot> BeginRead, ChangeSignal Changes, TimeProvider TimeProvider, AnalyzerSet Analyzers,
    IndexingOptions Options, ComputingEngine? Computing = null, Func<WriteBatch, CancellationToken, Task>? Write = null)
{
    /// <summary>Limits the number of indexes that run at a time, so that queries and writes keep processors.</summary>
    public IndexingTurns Turns { get; } = new(Options.IndexesAtWork);

    /// <summary>Lets one index at a time write documents.</summary>
    public SemaphoreSlim OutputTurn { get; } = new(1);

    /// <summary>The low-priority threads for larger amounts of work. Disposed by the catalogue.</summary>
    public QuietWorkers Workers { get; } = new();

    /// <summary>
    /// Stores a setting of the database, or deletes it if the value is null; null if settings cannot be stored.
    /// </summary>
    public Action<string, byte[]?>? WriteSetting { get; init; }

    /// <summary>The analyzers that the database shares with others.</summary>
    public Func<IReadOnlyCollection<AnalyzerDefinition>> SharedAnalyzers { get; init; } = static () => [];

    /// <summary>Opens the store of an index in a directory.</summary>
    public Func<string, StorageOptions, StorageEnvironment> OpenStore { get; init; } = StorageEnvironment.Open;

    /// <summary>The custom analyzers that fields can refer to now: shared ones, and those of the database, which take
    /// precedence.</summary>
    /// <param name="mayLackShared">Whether shared ones are left out if they cannot be read.</param>
    /// <exception cref="StorageException">The shared ones cannot be read.</exception>
    public CustomAnalyzers CustomAnalyzers(bool mayLackShared = false)
    {
        IReadOnlyCollection<AnalyzerDefinition> shared;
        try
        {
            shared = SharedAnalyzers();
        }
        catch (StorageException) when (mayLackShared)
        {
            shared = [];
        }

        using DatabaseSnapshot snapshot = BeginRead();
        return Definitions.CustomAnalyzers.Of(snapshot).Over(shared);
    }

    /// <summary>All analyzers that fields can refer to now: those of the program, and custom ones.</summary>
    public AnalyzerSet AllAnalyzers() => CustomAnalyzers().Over(Analyzers);
}
