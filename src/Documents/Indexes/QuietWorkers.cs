using Treepie.Storage.Memory;

namespace Treepie.Indexes;

/// <summary>
/// Quiet threads for the work of indexes: whoever asks or writes goes before them. A thread waits some seconds for more to do and
/// ends; there are as many as there is work at once, which who gives it bounds. Thread-safe.
/// </summary>
/// <remarks>
/// No tasks: what ends one on a quiet thread would begin threads of the pool there, see <see cref="QuietThread"/>.
/// </remarks>
internal sealed class QuietWorkers : IDisposable
{
    private static readonly TimeSpan _idleTime = TimeSpan.FromSeconds(5);

    private readonly object _lock = new();
    private readonly Queue<Action> _work = new();
    private int _idle;
    private bool _isStopped;

    /// <summary>Begins something, at once.</summary>
    public QuietJob<T> Run<T>(Func<T> work) => Run<T>(_ => work());

    /// <summary>As <see cref="Run{T}(Func{T})"/>, of what has to tell something meanwhile.</summary>
    public QuietJob<T> Run<T>(Func<QuietJob<T>, T> work)
    {
        var job = new QuietJob<T>(work);
        Add(job.Run);
        return job;
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
                    bool isWoken = !_isStopped && Monitor.Wait(_lock, _idleTime);
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
