using System.Runtime.ExceptionServices;

namespace Treepie.Indexes;

/// <summary>
/// Something that a quiet thread does, and what it has to tell meanwhile, which whoever waits passes on from an ordinary thread.
/// Thread-safe; one waits.
/// </summary>
internal sealed class QuietJob<T>(Func<QuietJob<T>, T> work)
{
    private readonly object _lock = new();
    private readonly Queue<Action> _news = new();
    private ExceptionDispatchInfo? _failure;
    private T? _result;
    private bool _hasEnded;

    /// <summary>Does it. On the quiet thread.</summary>
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

    /// <summary>Lets who waits call something.</summary>
    public void Tell(Action news)
    {
        lock (_lock)
        {
            _news.Enqueue(news);
            Monitor.PulseAll(_lock);
        }
    }

    /// <summary>Waits for its end, passing on what is told; what it threw is thrown here.</summary>
    public T Wait()
    {
        WaitForEnd();
        _failure?.Throw();
        return _result!; // it has ended without an error
    }

    /// <summary>As <see cref="Wait"/>, but for what it threw.</summary>
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
