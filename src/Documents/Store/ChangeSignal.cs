namespace Treepie.Store;

/// <summary>
/// Signals followers of the change feed that there are more changes. Costs a writer two memory accesses while nobody waits;
/// otherwise one allocation wakes all waiters.
/// </summary>
internal sealed class ChangeSignal
{
    private readonly Lock _lock = new();
    private TaskCompletionSource? _waiters;
    private long _lastEtag;
    private bool _closed;

    /// <summary>The etag of the last change known to be durable.</summary>
    public long LastEtag => Volatile.Read(ref _lastEtag);

    /// <summary>Signals that everything up to an etag is durable.</summary>
    public void Publish(long etag)
    {
        TaskCompletionSource? waiters;
        lock (_lock)
        {
            if (etag <= _lastEtag)
                return;
            Volatile.Write(ref _lastEtag, etag);
            waiters = _waiters;
            _waiters = null;
        }

        waiters?.TrySetResult();
    }

    /// <summary>
    /// Completes when there is a change after an etag; immediately if there already is one. Fails with
    /// <see cref="ObjectDisposedException"/> when the database is closed.
    /// </summary>
    public Task WaitAsync(long afterEtag, CancellationToken cancellationToken)
    {
        Task wait;
        lock (_lock)
        {
            if (_closed)
                throw Closed();
            if (_lastEtag > afterEtag)
                return Task.CompletedTask;
            _waiters ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            wait = _waiters.Task;
        }

        return wait.WaitAsync(cancellationToken);
    }

    /// <summary>Signals that there will be no more changes.</summary>
    public void Close()
    {
        TaskCompletionSource? waiters;
        lock (_lock)
        {
            _closed = true;
            waiters = _waiters;
            _waiters = null;
        }

        waiters?.TrySetException(Closed());
    }

    private static ObjectDisposedException Closed() => new("Database", "The database was closed.");
}
