using Treepie.Storage.Files;

namespace Treepie.Storage.Transactions;

/// <summary>Work that nobody waits for, on other threads, until the environment closes.</summary>
internal sealed class Background(IScheduler scheduler, bool isAllowed)
{
    private readonly object _lock = new(); // the scheduler waits on it
    private int _running;
    private bool _isStopped;

    public IScheduler Scheduler => scheduler;

    public bool IsAllowed => isAllowed;

    /// <summary>Whether all work has ended for good.</summary>
    public bool IsIdle
    {
        get
        {
            lock (_lock)
                return _isStopped && _running == 0;
        }
    }

    /// <summary>Starts work, unless the environment is closing. What it throws is its own affair: it is work that can be done later too.</summary>
    public void Run(Action work)
    {
        lock (_lock)
        {
            if (_isStopped)
                return;

            _running++;
        }

        scheduler.Queue(() =>
        {
            try
            {
                work();
            }
            catch (Exception)
            {
                // See above: whoever needs it done does it again.
            }
            finally
            {
                lock (_lock)
                {
                    _running--;
                    Monitor.PulseAll(_lock);
                }
            }
        });
    }

    /// <summary>Lets no new work begin and waits for what runs.</summary>
    public void WaitForAll()
    {
        lock (_lock)
        {
            _isStopped = true;
            while (_running > 0)
                scheduler.Wait(_lock);
        }
    }
}
