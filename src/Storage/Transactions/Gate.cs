using System.Diagnostics;
using Treepie.Storage.Files;

namespace Treepie.Storage.Transactions;

/// <summary>Lets one in at a time, any thread, and waits as the scheduler does.</summary>
internal sealed class Gate(IScheduler scheduler)
{
    private readonly object _lock = new(); // the scheduler waits on it
    private bool _isTaken;

    /// <summary>Goes in if nobody is; false otherwise.</summary>
    public bool TryEnter()
    {
        lock (_lock)
        {
            if (_isTaken)
                return false;

            return _isTaken = true;
        }
    }

    /// <summary>
    /// Goes in when nobody else is. Throws <see cref="OperationCanceledException"/>, outside, when cancelled while waiting.
    /// </summary>
    public void Enter(CancellationToken cancellationToken)
    {
        using CancellationTokenRegistration registration = cancellationToken.UnsafeRegister(
            static state =>
            {
                lock (state!) // the lock given beside it
                    Monitor.PulseAll(state);
            },
            _lock);
        lock (_lock)
        {
            while (true)
            {
                cancellationToken.ThrowIfCancellationRequested();
                if (!_isTaken)
                    break;
                scheduler.Wait(_lock);
            }

            _isTaken = true;
        }
    }

    /// <summary>Lets the next one in.</summary>
    public void Leave()
    {
        lock (_lock)
        {
            Debug.Assert(_isTaken, "who leaves is in");
            _isTaken = false;
            Monitor.PulseAll(_lock);
        }
    }
}
