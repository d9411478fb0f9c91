using Treepie.Storage.Memory;

namespace Treepie.Indexes;

/// <summary>
/// Quiet threads for the work of indexes: whoever asks or writes goes before them. A thread waits some seconds for more to do and ends; there are as many as there is work at once, which who
/// gives it bounds. Thread-safe.
/// </summary>
internal sealed class QuietWorkers : IDisposable
{
    private static readonly TimeSpan IdleTime = TimeSpan.FromSeconds(5);

    private readonly object _lock = new();
    private readonly Queue<Action> _work = new();
    private int _idle;
    private bool _isStopped;

    /// <summary>Runs something, at once. Who waits for it goes on on another thread.</summary>
    public Task<T> Run<T>(Func<T> work)
    {
        var done = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        Add(() =>
        {
            try
            {
                done.SetResult(work());
            }
            catch (OperationCanceledException cancelled)
            {
                done.SetCanceled(cancelled.CancellationToken);
            }
            catch (Exception error)
            {
                done.SetException(error);
            }
        });
        return done.Task;
    }

    /// <summary>Lets the threads end that wait; those that work end afterwards.</summary>
    public void Dispose()
    {
        lock (_lock)
        {
            _isStopped = true;
            Monitor.PulseAll(_lock);
        }
    }

    private void Add(Action work)
    {
        lock (_lock)
        {
            _work.Enqueue(work);
            if (_work.Count <= _idle)
            {
                Monitor.Pulse(_lock);
                return;
            }
        }

        QuietThread.Start(WorkOff, QuietThread.Steady);
    }

    private void WorkOff()
    {
        while (true)
        {
            Action? next;
            lock (_lock)
            {
                if (!_work.TryDequeue(out next))
                {
                    _idle++;
                    bool isWoken = !_isStopped && Monitor.Wait(_lock, IdleTime);
                    _idle--;
                    if (!_work.TryDequeue(out next))
                    {
                        if (isWoken && !_isStopped)
                            continue; // somebody else took it
                        return;
                    }
                }
            }

            next();
        }
    }
}
