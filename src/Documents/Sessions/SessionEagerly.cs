namespace Treepie.Sessions;

/// <summary>Executes the pending lazy operations of a session.</summary>
public sealed class SessionEagerly
{
    private readonly LazyOperations _operations;

    internal SessionEagerly(LazyOperations operations) => _operations = operations;

    /// <summary>
    /// Executes all pending lazy loads and queries as one request. If an operation fails, reading its value throws the exception.
    /// </summary>
    public void ExecuteAllPendingLazyOperations() => _operations.RunAsync(CancellationToken.None).GetAwaiter().GetResult();

    /// <summary>Asynchronous version of <see cref="ExecuteAllPendingLazyOperations"/>.</summary>
    public Task ExecuteAllPendingLazyOperationsAsync(CancellationToken cancellationToken = default) =>
        _operations.RunAsync(cancellationToken);
}
