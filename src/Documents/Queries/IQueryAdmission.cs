namespace Treepie.Queries;

/// <summary>
/// Controls when a query may run, so that many queries share the processor fairly. A query is admitted before it runs, and
/// releases its admission while it waits for an index and when it fails. Once its results have been found it keeps the
/// admission: whoever reads the results releases it afterwards. Not thread-safe.
/// </summary>
public interface IQueryAdmission
{
    /// <summary>Waits until the query is admitted, without blocking a thread; completes immediately if it already is.</summary>
    ValueTask TakeAsync(CancellationToken cancellationToken);

    /// <summary>Releases the admission; does nothing if the query has none.</summary>
    void Release();
}
