namespace Treepie.Queries;

/// <summary>
/// Says when a query may work, so that many of them share the processor in an orderly way. A query takes its turn before it
/// works, and gives it back while it waits for an index and when its results are found. One thread at a time.
/// </summary>
public interface IQueryAdmission
{
    /// <summary>Waits for the query's turn, without blocking a thread; at once where it has it already.</summary>
    ValueTask TakeAsync(CancellationToken cancellationToken);

    /// <summary>Gives the turn back; nothing where the query has none.</summary>
    void Release();
}
