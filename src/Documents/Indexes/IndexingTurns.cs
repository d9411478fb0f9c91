namespace Treepie.Indexes;

/// <summary>
/// Lets so many indexes work at a time. Of those that wait, the one of the highest priority goes next, of equals the one that has
/// waited longest. Thread-safe.
/// </summary>
internal sealed class IndexingTurns(int count)
{
    private readonly Lock _lock = new();
    private readonly PriorityQueue<TaskCompletionSource, (int Priority, long Order)> _waiting = new();
    private int _free = count;
    private long _order;

    /// <summary>Whether somebody waits.</summary>
    public bool IsWanted
    {
        get
        {
            lock (_lock)
            {
                while (_waiting.TryPeek(out TaskCompletionSource? next, out _) && next.Task.IsCompleted)
                    _waiting.Dequeue(); // was given up
                return _waiting.Count > 0;
            }
        }
    }

    /// <summary>Completes when it is one's turn, which has to be given back.</summary>
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

        // Either it comes or it is given up: one that was given up is passed over when it would come.
        using CancellationTokenRegistration registration = cancellationToken.Register(
            () => turn.TrySetCanceled(cancellationToken));
        await turn.Task.ConfigureAwait(false);
    }

    /// <summary>Gives a turn back.</summary>
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
