namespace Treepie.Indexes;

/// <summary>
/// Limits the number of indexes that run at a time. The waiting index with the highest priority goes next; among equals, the
/// one that has waited longest. Thread-safe.
/// </summary>
internal sealed class IndexingTurns(int count)
{
    private readonly Lock _lock = new();
    private readonly PriorityQueue<TaskCompletionSource, (int Priority, long Order)> _waiting = new();
    private int _free = count;
    private long _order;

    /// <summary>Whether an index is waiting.</summary>
    public bool IsWanted
    {
        get
        {
            lock (_lock)
            {
                while (_waiting.TryPeek(out TaskCompletionSource? next, out _) && next.Task.IsCompleted)
                    _waiting.Dequeue(); // cancelled
                return _waiting.Count > 0;
            }
        }
    }

    /// <summary>Completes when it is the caller's turn, which the caller must release.</summary>
    public async Task WaitAsync(IndexPriority priority, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        TaskCompletionSource turn;
        lock (_lock)
        {
            if (_free > 0)
            {
                _free--;
                return;
            }

            turn = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _waiting.Enqueue(turn, (-(int)priority, _order++));
        }

        // A turn that was cancelled is skipped when it would be its turn.
        using CancellationTokenRegistration registration = cancellationToken.Register(
            () => turn.TrySetCanceled(cancellationToken));
        await turn.Task.ConfigureAwait(false);
    }

    /// <summary>Releases a turn.</summary>
    public void Release()
    {
        lock (_lock)
        {
            while (_waiting.TryDequeue(out TaskCompletionSource? next, out _))
                if (next.TrySetResult())
                    return;
            _free++;
        }
    }
}
