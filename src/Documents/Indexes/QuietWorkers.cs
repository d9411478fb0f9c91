using Treepie.Storage.Memory;

namespace Treepie.Indexes;

/// <summary>
/// Low-priority threads for the work of indexes, which give way to queries and writes. An idle thread ends after a few
/// seconds. There are as many threads as concurrent jobs, so callers bound their number. Thread-safe.
/// </summary>
/// <remarks>
/// Does not use tasks: completing one on a low-priority thread could start pool threads with that priority, see
/// <see cref="QuietThread"/>.
/// </remarks>
internal sealed class QuietWorkers : IDisposable
{
    private static readonly TimeSpan _idleTime = TimeSpan.FromSeconds(5);

    private readonly object _lock = new();
    private readonly Queue<Action> _work = new();
    private int _idle;
    private bool _isStopped;

    /// <summary>Starts a job immediately.</summary>
    public QuietJob<T> Run<T>(Func<T> work) => Run<T>(_ => work());

    /// <summary>As <see cref="Run{T}(Func{T})"/>, for a job that posts actions.</summary>
    public QuietJob<T> Run<T>(Func<QuietJob<T>, T> work)
    {
        var job = new QuietJob<T>(work);
        Add(job.Run);
        return job;
    }

    /// <summary>Lets idle threads end; busy threads end after their job.</summary>
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
                            continue; // another thread took the job
                        return;
                    }
                }
            }

            next();
        }
    }
}
