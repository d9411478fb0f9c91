namespace Treepie.Storage.Simulation;

/// <summary>Time that passes when told to. Timers go off, in their order, on the thread that moves the time.</summary>
internal sealed class SimulatedClock : TimeProvider
{
    private readonly List<SimulatedTimer> _timers = [];
    private long _ticks;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    /// <summary>Milliseconds since the beginning.</summary>
    public long NowMs => _ticks / TimeSpan.TicksPerMillisecond;

    public override long GetTimestamp() => _ticks;

    public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch + TimeSpan.FromTicks(_ticks);

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new SimulatedTimer(this, callback, state);
        _timers.Add(timer);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>Lets time pass.</summary>
    public void Advance(TimeSpan time)
    {
        long end = _ticks + time.Ticks;
        while (_timers.Where(timer => timer.DueTicks <= end).MinBy(timer => timer.DueTicks) is { } next)
        {
            _ticks = Math.Max(_ticks, next.DueTicks);
            next.GoOff();
        }

        _ticks = end;
    }

    private sealed class SimulatedTimer(SimulatedClock clock, TimerCallback callback, object? state) : ITimer
    {
        private long _periodTicks;

        public long DueTicks { get; private set; } = long.MaxValue;

        public void GoOff()
        {
            DueTicks = _periodTicks > 0 ? clock._ticks + _periodTicks : long.MaxValue;
            callback(state);
        }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            _periodTicks = period > TimeSpan.Zero ? period.Ticks : 0;
            DueTicks = dueTime < TimeSpan.Zero ? long.MaxValue : clock._ticks + dueTime.Ticks;
            return true;
        }

        public void Dispose() => clock._timers.Remove(this);

        public ValueTask DisposeAsync()
        {
            Dispose();
            return default;
        }
    }
}
