namespace Treepie.Server.Tests.Support;

/// <summary>A clock that stands still until a test moves it, and whose timers fire then. Thread-safe.</summary>
internal sealed class TestClock : TimeProvider
{
    private readonly Lock _sync = new();
    private readonly List<Timer> _timers = [];
    private TimeSpan _now;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp()
    {
        lock (_sync)
            return _now.Ticks;
    }

    public override DateTimeOffset GetUtcNow()
    {
        lock (_sync)
            return new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero) + _now;
    }

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new Timer(this, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>Whether somebody waits for exactly this time to pass from now on.</summary>
    public bool HasTimer(TimeSpan due)
    {
        lock (_sync)
            return _timers.Exists(timer => timer.Due == _now + due);
    }

    public void Advance(TimeSpan by)
    {
        Timer[] due;
        lock (_sync)
        {
            _now += by;
            due = [.. _timers.Where(timer => timer.Due <= _now)];
            foreach (Timer timer in due)
                timer.Due = TimeSpan.MaxValue;
        }

        foreach (Timer timer in due)
            timer.Fire();
    }

    private sealed class Timer(TestClock clock, TimerCallback callback, object? state) : ITimer
    {
        public TimeSpan Due { get; set; } = TimeSpan.MaxValue;

        public void Fire() => callback(state);

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (clock._sync)
            {
                Due = dueTime == Timeout.InfiniteTimeSpan ? TimeSpan.MaxValue : clock._now + dueTime;
                clock._timers.Remove(this);
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
