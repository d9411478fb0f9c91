namespace Treepie.Store;

/// <summary>
/// Tells those who follow the change feed that there is more to read. Costs a writer two memory accesses while nobody waits; one
/// allocation wakes everybody who does.
/// </summary>
internal sealed class ChangeSignal
{
    private readonly Lock _lock = new();
    private TaskCompletionSource? _waiters;
    private long _lastEtag;
    private bool _closed;

    /// <summary>Etag of the last change known to be durable.</summary>
    public long LastEtag => Volatile.Read(ref _lastEtag);

    /// <summary>Everything up to an etag is durable.</summary>
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
    /// Completes when there is a change after an etag; at once if there is. Fails with <see cref="ObjectDisposedException"/> when
    /// the database closes.
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

    /// <summary>Nothing will change any more.</summary>
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
