using System.Collections.Concurrent;

namespace Treepie.Extensions.Hosting.Tests;

/// <summary>The clock of the system whose periodic timers run when the test says so.</summary>
internal sealed class SteppedClock : TimeProvider
{
    private readonly ConcurrentQueue<Action> _periodic = new();

    /// <summary>Runs what is to be done periodically.</summary>
    public void Step()
    {
        foreach (Action run in _periodic)
            run();
    }

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        if (period == Timeout.InfiniteTimeSpan)
            return base.CreateTimer(callback, state, dueTime, period);
        _periodic.Enqueue(() => callback(state));
        return base.CreateTimer(callback, state, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }
}
