using System.Diagnostics;
using Treepie.Storage.Files;

namespace Treepie.Storage.Transactions;

/// <summary>A lock not bound to a thread: one holder at a time, waiting through the scheduler.</summary>
internal sealed class Gate(IScheduler scheduler)
{
    private readonly object _lock = new(); // the scheduler waits on it
    private bool _isTaken;

    /// <summary>Enters if the gate is free; returns false otherwise.</summary>
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
    /// Waits until the gate is free and enters. Throws <see cref="OperationCanceledException"/>, without entering, if
    /// cancelled while waiting.
    /// </summary>
    public void Enter(CancellationToken cancellationToken)
    {
        using CancellationTokenRegistration registration = cancellationToken.UnsafeRegister(
            static state =>
            {
                lock (state!) // the state argument is _lock
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

    /// <summary>Frees the gate for the next one.</summary>
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
