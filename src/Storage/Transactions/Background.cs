using System.Collections.Concurrent;
using Treepie.Storage.Files;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Work that nobody waits for, on other threads, each with a lease: closing waits for what runs and lets nothing more begin.
/// </summary>
internal sealed class Background(IScheduler scheduler, Lifetime lifetime, bool isAllowed)
{
    private readonly List<IDisposable> _owned = [];
    private readonly ConcurrentQueue<Action> _unarmed = [];

    public IScheduler Scheduler => scheduler;

    public bool IsAllowed => isAllowed;

    /// <summary>
    /// Starts work; false where the environment is closing or the system starts no thread. Never throws. What the work throws is
    /// lost: whoever needs it done asks for it again.
    /// </summary>
    public bool Run(Action work)
    {
        if (!lifetime.TryEnter())
            return false;

        for (int left = _unarmed.Count; left > 0 && _unarmed.TryDequeue(out Action? arm); left--)
            arm();

        try
        {
            scheduler.Queue(() =>
            {
                try
                {
                    work();
                }
                catch (Exception)
                {
                    // See above.
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
    /// Creates a timer that goes off once; null where the system has none to give. Then <paramref name="arm"/>, which calls
    /// this again, is called when any background work begins next. Never throws: the operation that needs a timer does not
    /// fail for want of it.
    /// </summary>
    public ITimer? TryCreateTimer(TimeProvider clock, Action onTimer, TimeSpan delay, Action arm)
    {
        try
        {
            return clock.CreateTimer(_ => onTimer(), null, delay, Timeout.InfiniteTimeSpan);
        }
        catch (Exception)
        {
            _unarmed.Enqueue(arm);
            return null;
        }
    }

    /// <summary>
    /// Takes over work that starts itself by a timer, to be disposed when closing begins. For the constructor of the environment.
    /// </summary>
    public T Own<T>(T work)
        where T : IDisposable
    {
        _owned.Add(work);
        return work;
    }

    /// <summary>Lets nothing begin by itself any more.</summary>
    public void Stop() => _owned.ForEach(static work => work.Dispose());
}
