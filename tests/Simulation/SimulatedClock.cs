namespace Treepie.Storage.Simulation;

/// <summary>A clock that advances on request. Timers fire in order, on the thread that advances the clock.</summary>
internal sealed class SimulatedClock : TimeProvider
{
    private readonly List<SimulatedTimer> _timers = []; // has its own lock: threads of the engine add and remove timers
    private long _ticks;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    /// <summary>Milliseconds since the beginning.</summary>
    public long NowMs => _ticks / TimeSpan.TicksPerMillisecond;

    public override long GetTimestamp() => _ticks;

    public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch + TimeSpan.FromTicks(_ticks);

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new SimulatedTimer(this, callback, state);
        lock (_timers)
            _timers.Add(timer);
        timer.Change(dueTime, period);
        return timer;
    }

    /// <summary>Adds the duration of a call. Timers that become due fire at the next advance.</summary>
    public void Spend(TimeSpan time) => _ticks += time.Ticks;

    /// <summary>Advances the clock.</summary>
    public void Advance(TimeSpan time)
    {
        long end = _ticks + time.Ticks;
        while (NextUntil(end) is { } next)
        {
            _ticks = Math.Max(_ticks, next.DueTicks);
            next.GoOff();
        }

        _ticks = end;
    }

    private SimulatedTimer? NextUntil(long end)
    {
        lock (_timers)
            return _timers.Where(timer => timer.DueTicks <= end).MinBy(timer => timer.DueTicks);
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

        public void Dispose()
        {
            lock (clock._timers)
                clock._timers.Remove(this);
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return default;
        }
    }
}
