namespace Treepie.Sessions;

/// <summary>Runs what waits in a session.</summary>
public sealed class SessionEagerly
{
    private readonly LazyOperations _operations;

    internal SessionEagerly(LazyOperations operations) => _operations = operations;

    /// <summary>Runs all lazy loads and queries that wait, as one request. An error is thrown by the value that has it.</summary>
    public void ExecuteAllPendingLazyOperations() => _operations.RunAsync(CancellationToken.None).GetAwaiter().GetResult();

    /// <summary>As <see cref="ExecuteAllPendingLazyOperations"/>.</summary>
    public Task ExecuteAllPendingLazyOperationsAsync(CancellationToken cancellationToken = default) =>
        _operations.RunAsync(cancellationToken);
}
