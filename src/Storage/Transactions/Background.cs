using System.Collections.Concurrent;
using Treepie.Storage.Files;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Runs background work on other threads. Each piece of work holds a lease: closing waits for running work and lets no new
/// work start.
/// </summary>
internal sealed class Background(IScheduler scheduler, Lifetime lifetime, bool isAllowed)
{
    private readonly List<IDisposable> _owned = [];
    private readonly ConcurrentQueue<Action> _unarmed = [];

    public IScheduler Scheduler => scheduler;

    public bool IsAllowed => isAllowed;

    /// <summary>
    /// Starts work on another thread. Returns false if the environment is closing or no thread can be started. Never throws.
    /// An exception thrown by the work is discarded: a caller that needs the work done must request it again.
    /// </summary>
    public bool Run(Action work)
    {
        if (!lifetime.TryEnter())
            return false;

        try
        {
            ArmWaiting();
            scheduler.Queue(() =>
            {
                try
                {
                    work();
                }
                catch (Exception)
                {
                    // Discarded: see the summary.
                }
                finally
                {
                    lifetime.Leave();
                }
            });
            return true;
        }
        catch (Exception)
        {
            lifetime.Leave();
            return false;
        }
    }

    /// <summary>
    /// Creates a one-shot timer, or returns null if the system cannot create one. In that case <paramref name="arm"/>, which
    /// should call this method again, is called when the next background work starts, once however often it was passed. Never
    /// throws, so an operation that needs a timer does not fail because it cannot get one.
    /// </summary>
    public ITimer? TryCreateTimer(TimeProvider clock, Action onTimer, TimeSpan delay, Action arm)
    {
        try
        {
            return clock.CreateTimer(_ => onTimer(), null, delay, Timeout.InfiniteTimeSpan);
        }
        catch (Exception)
        {
            if (!_unarmed.Contains(arm))
                _unarmed.Enqueue(arm);
            return null;
        }
    }

    /// <summary>
    /// Registers work that starts itself from a timer, to be disposed when closing begins. Called only while the environment
    /// is constructed.
    /// </summary>
    public T Own<T>(T work)
        where T : IDisposable
    {
        _owned.Add(work);
        return work;
    }

    /// <summary>Disposes the owned timers, so that no background work starts by itself any more.</summary>
    public void Stop() => _owned.ForEach(static work => work.Dispose());

    /// <summary>Tries to create the timers that could not be created before. Never throws.</summary>
    private void ArmWaiting()
    {
        for (int left = _unarmed.Count; left > 0 && _unarmed.TryDequeue(out Action? arm); left--)
        {
            try
            {
                arm();
            }
            catch (Exception)
            {
                _unarmed.Enqueue(arm); // the next work tries again
            }
        }
    }
}
