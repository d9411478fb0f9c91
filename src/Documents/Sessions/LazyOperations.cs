using System.Diagnostics.CodeAnalysis;
using Treepie.Linq;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>
/// The pending lazy loads and queries of a session: reading the first value executes all of them as one request, with one
/// snapshot for loads. Not thread-safe.
/// </summary>
/// <param name="session">The session.</param>
/// <param name="most">The maximum number of pending operations.</param>
internal sealed class LazyOperations(DocumentSession session, int most) : ILazyOperations
{
    private List<LazyOperation> _waiting = [];

    [UnconditionalSuppressMessage("Trimming", "IL2091", Justification = ILazyOperations.NoConstructor)]
    public Lazy<T> Query<T>(Func<CancellationToken, Task<T>> run) => Blocking(Add((_, stop) => run(stop)));

    public Lazy<Task<T>> QueryAsync<T>(Func<CancellationToken, Task<T>> run) => Awaited(Add((_, stop) => run(stop)));

    /// <summary>Adds a load whose value is read synchronously.</summary>
    [UnconditionalSuppressMessage("Trimming", "IL2091", Justification = ILazyOperations.NoConstructor)]
    public Lazy<T> Load<T>(Func<Func<DatabaseSnapshot>, T> load) =>
        Blocking(Add((snapshot, _) => Task.FromResult(load(snapshot))));

    /// <summary>Adds a load whose value is awaited.</summary>
    public Lazy<Task<T>> LoadAsync<T>(Func<Func<DatabaseSnapshot>, T> load) =>
        Awaited(Add((snapshot, _) => Task.FromResult(load(snapshot))));

    /// <summary>Executes all pending operations.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        session.RequireOpen();
        if (_waiting.Count == 0)
            return;
        List<LazyOperation> waiting;
        using (session.Enter())
            (waiting, _waiting) = (_waiting, []);
        DatabaseSnapshot? snapshot = null;
        session.Requests.BeginTogether();
        try
        {
            foreach (LazyOperation operation in waiting)
                await operation.RunAsync(() => snapshot ??= session.BeginDocumentRead(), cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            session.Requests.EndTogether();
            snapshot?.Dispose();
        }

        cancellationToken.ThrowIfCancellationRequested();
    }

    private LazyOperation<T> Add<T>(Func<Func<DatabaseSnapshot>, CancellationToken, Task<T>> run)
    {
        session.RequireOpen();
        using SessionGuard.Scope scope = session.Enter();
        if (_waiting.Count >= most)
            throw new InvalidOperationException(
                $"{most:N0} lazy loads and queries of the session wait, the limit (MaxTrackedDocuments). Ask for a value, which "
                    + $"runs them, or call Advanced.Eagerly.ExecuteAllPendingLazyOperations().");
        var operation = new LazyOperation<T>(run);
        _waiting.Add(operation);
        return operation;
    }

    [UnconditionalSuppressMessage("Trimming", "IL2091", Justification = ILazyOperations.NoConstructor)]
    private Lazy<T> Blocking<T>(LazyOperation<T> operation) => new(() =>
    {
        RunAsync(CancellationToken.None).GetAwaiter().GetResult();
        return operation.Value;
    });

    private Lazy<Task<T>> Awaited<T>(LazyOperation<T> operation) => new(async () =>
    {
        await RunAsync(CancellationToken.None).ConfigureAwait(false);
        return operation.Value;
    });
}
