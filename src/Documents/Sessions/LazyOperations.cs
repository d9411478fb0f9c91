using System.Diagnostics.CodeAnalysis;
using Treepie.Linq;
using Treepie.Store;

namespace Treepie.Sessions;

/// <summary>
/// The loads and queries of a session that wait: the first value that is asked for runs all of them as one request, loads from
/// one snapshot. Not thread-safe.
/// </summary>
/// <param name="session">The session.</param>
/// <param name="most">Most that wait at a time.</param>
internal sealed class LazyOperations(DocumentSession session, int most) : ILazyOperations
{
    private List<LazyOperation> _waiting = [];

    [UnconditionalSuppressMessage("Trimming", "IL2091", Justification = ILazyOperations.NoConstructor)]
    public Lazy<T> Query<T>(Func<CancellationToken, Task<T>> run) => Blocking(Add((_, stop) => run(stop)));

    public Lazy<Task<T>> QueryAsync<T>(Func<CancellationToken, Task<T>> run) => Awaited(Add((_, stop) => run(stop)));

    /// <summary>A load whose caller blocks.</summary>
    [UnconditionalSuppressMessage("Trimming", "IL2091", Justification = ILazyOperations.NoConstructor)]
    public Lazy<T> Load<T>(Func<Func<DatabaseSnapshot>, T> load) =>
        Blocking(Add((snapshot, _) => Task.FromResult(load(snapshot))));

    /// <summary>A load whose caller awaits it.</summary>
    public Lazy<Task<T>> LoadAsync<T>(Func<Func<DatabaseSnapshot>, T> load) =>
        Awaited(Add((snapshot, _) => Task.FromResult(load(snapshot))));

    /// <summary>Runs all that wait.</summary>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        session.RequireOpen();
        if (_waiting.Count == 0)
            return;
        List<LazyOperation> waiting = _waiting;
        _waiting = [];
        DatabaseSnapshot? snapshot = null;
        session.Requests.BeginTogether();
        try
        {
            foreach (LazyOperation operation in waiting)
                await operation.RunAsync(() => snapshot ??= session.BeginRead(), cancellationToken).ConfigureAwait(false);
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
