using System.Collections.Concurrent;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Blocking requests that were answered, to be used again with the places to sleep they have: a write allocates none. One that
/// failed or was cancelled is not taken back: a cancelled one may still be in the queue.
/// </summary>
internal sealed class RequestPool<TResult>
{
    private const int MaxKept = 256;

    private readonly ConcurrentQueue<WriteRequest<TResult>> _kept = new();

    /// <summary>A request for a command.</summary>
    public WriteRequest<TResult> Rent(Func<WriteTransaction, TResult> command)
    {
        if (!_kept.TryDequeue(out WriteRequest<TResult>? request))
            request = new WriteRequest<TResult>(isAsync: false);
        request.Begin(command);
        return request;
    }

    /// <summary>
    /// Takes back a request that succeeded and whose result was read. Who still wakes it then wakes nobody, or the next who uses
    /// it, for nothing.
    /// </summary>
    public void Return(WriteRequest<TResult> request)
    {
        request.End();
        if (_kept.Count < MaxKept)
            _kept.Enqueue(request);
    }
}
