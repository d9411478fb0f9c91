using Treepie.Storage.Files;

namespace Treepie.Storage.Tests.Transactions;

/// <summary>The thread pool, until the system refuses to start threads.</summary>
internal sealed class RefusingScheduler : IScheduler
{
    private readonly ThreadPoolScheduler _inner = new();
    private volatile bool _isRefusing;
    private int _refused;

    /// <summary>Whether no work can be started.</summary>
    public bool IsRefusing
    {
        get => _isRefusing;
        set => _isRefusing = value;
    }

    /// <summary>How often work could not be started.</summary>
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
