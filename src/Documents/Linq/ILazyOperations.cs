namespace Treepie.Linq;

/// <summary>Takes queries that are run together with everything else of the session that waits, when one is asked for.</summary>
internal interface ILazyOperations
{
    /// <summary>A query whose caller blocks.</summary>
    Lazy<T> Query<T>(Func<CancellationToken, Task<T>> run);

    /// <summary>A query whose caller awaits it.</summary>
    Lazy<Task<T>> QueryAsync<T>(Func<CancellationToken, Task<T>> run);
}
