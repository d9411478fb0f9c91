using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>What indexes need of their database.</summary>
/// <param name="BeginRead">Opens a snapshot of the documents.</param>
/// <param name="Changes">Wakes whoever waits for changes.</param>
/// <param name="Turns">Lets so many indexes work at a time.</param>
/// <param name="TimeProvider">The clock.</param>
internal sealed record IndexingContext(Func<DatabaseSnapshot> BeginRead, ChangeSignal Changes, SemaphoreSlim Turns, TimeProvider TimeProvider);
