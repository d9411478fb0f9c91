using System.Collections.Concurrent;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Pools completed blocking requests together with their sleepers, so that a write allocates neither. A failed or cancelled
/// request is not returned: a cancelled one may still be in the queue.
/// </summary>
internal sealed class RequestPool<TResult>
{
    private const int MaxKept = 256;

    private readonly ConcurrentQueue<WriteRequest<TResult>> _kept = new();

    /// <summary>Returns a request for a command.</summary>
    public WriteRequest<TResult> Rent(Func<WriteTransaction, TResult> command)
    {
        if (!_kept.TryDequeue(out WriteRequest<TResult>? request))
            request = new WriteRequest<TResult>(isAsync: false);
        request.Begin(command);
        return request;
    }

    /// <summary>
    /// Takes back a request that succeeded and whose result was read. A late wake-up of it then wakes nobody, or spuriously
    /// wakes its next user.
    /// </summary>
    public void Return(WriteRequest<TResult> request)
    {
        request.End();
        if (_kept.Count < MaxKept)
            _kept.Enqueue(request);
    }
}
