namespace Treepie.Documents.Tests.Lifecycle;

/// <summary>A clock that stands still until a test moves it, and whose periodic timers fire then. Thread-safe.</summary>
internal sealed class FiringClock : TimeProvider
{
    private readonly Lock _sync = new();
    private readonly List<Timer> _timers = [];
    private DateTimeOffset _now = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);

    public override DateTimeOffset GetUtcNow()
    {
        lock (_sync)
            return _now;
    }

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new Timer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>Moves the clock from one timer that is due to the next.</summary>
    public void Advance(TimeSpan by)
    {
        DateTimeOffset end = GetUtcNow() + by;
        while (Next(end) is { } timer)
            timer.Fire();
        lock (_sync)
            _now = end;
    }

    /// <summary>Whether a timer is due after exactly this time.</summary>
    public bool HasTimerIn(TimeSpan time)
    {
        lock (_sync)
            return _timers.Exists(timer => timer.Due == _now + time);
    }

    private Timer? Next(DateTimeOffset end)
    {
        lock (_sync)
        {
            Timer? next = _timers.Where(timer => timer.Due <= end).MinBy(static timer => timer.Due);
            if (next is not null)
                (_now, next.Due) = (next.Due, next.Period > TimeSpan.Zero ? next.Due + next.Period : DateTimeOffset.MaxValue);
            return next;
        }
    }

    private sealed class Timer(FiringClock clock, TimerCallback callback, object? state) : ITimer
    {
        public DateTimeOffset Due { get; set; }

        public TimeSpan Period { get; private set; }

        public void Fire() => callback(state);

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (clock._sync)
            {
                Due = dueTime < TimeSpan.Zero ? DateTimeOffset.MaxValue : clock._now + dueTime;
                Period = period;
                if (!clock._timers.Contains(this))
                    clock._timers.Add(this);
            }

            return true;
        }

        public void Dispose()
        {
            lock (clock._sync)
                clock._timers.Remove(this);
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
