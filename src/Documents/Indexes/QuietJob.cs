using System.Runtime.ExceptionServices;

namespace Treepie.Indexes;

/// <summary>
/// A job on a low-priority thread, and the actions it posts meanwhile, which the waiting thread runs. Thread-safe; one
/// thread may wait.
/// </summary>
internal sealed class QuietJob<T>(Func<QuietJob<T>, T> work)
{
    private readonly object _lock = new();
    private readonly Queue<Action> _news = new();
    private ExceptionDispatchInfo? _failure;
    private T? _result;
    private bool _hasEnded;

    /// <summary>Runs the job on the low-priority thread.</summary>
    public void Run()
    {
        try
        {
            _result = work(this);
        }
        catch (Exception error)
        {
            _failure = ExceptionDispatchInfo.Capture(error);
        }

        lock (_lock)
        {
            _hasEnded = true;
            Monitor.PulseAll(_lock);
        }
    }

    /// <summary>Posts an action to the waiting thread.</summary>
    public void Tell(Action news)
    {
        lock (_lock)
        {
            _news.Enqueue(news);
            Monitor.PulseAll(_lock);
        }
    }

    /// <summary>Waits for the job to end, running posted actions; rethrows its exception.</summary>
    public T Wait()
    {
        WaitForEnd();
        _failure?.Throw();
        return _result!; // it has ended without an exception
    }

    /// <summary>As <see cref="Wait"/>, but does not rethrow the exception.</summary>
    public void WaitForEnd()
    {
        while (true)
        {
            Action? news;
            lock (_lock)
            {
                while (!_news.TryDequeue(out news))
                {
                    if (_hasEnded)
                        return;
                    Monitor.Wait(_lock);
                }
            }

            news();
        }
    }
}
