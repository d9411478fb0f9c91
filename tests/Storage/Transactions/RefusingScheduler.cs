using Treepie.Storage.Files;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>The thread pool, with an option to refuse new threads.</summary>
internal sealed class RefusingScheduler : IScheduler
{
    private readonly ThreadPoolScheduler _inner = new();
    private volatile bool _isRefusing;
    private int _refused;

    /// <summary>Whether starting work fails.</summary>
    public bool IsRefusing
    {
        get => _isRefusing;
        set => _isRefusing = value;
    }

    /// <summary>How often starting work failed.</summary>
    public int Refused => Volatile.Read(ref _refused);

    public void Queue(Action work)
    {
        if (_isRefusing)
        {
            Interlocked.Increment(ref _refused);
            throw new OutOfMemoryException("The system starts no further thread.");
        }

        _inner.Queue(work);
    }

    public void Wait(object monitor) => _inner.Wait(monitor);

    public Sleeper CreateSleeper() => _inner.CreateSleeper();
}
