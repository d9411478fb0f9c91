namespace Treepie.Documents.Tests.Lifecycle;

/// <summary>A clock that a test sets, and whose stopwatch goes on each time it is looked at. Timers never fire.</summary>
internal sealed class SteppingClock : TimeProvider
{
    private long _timestamp;

    public DateTimeOffset Now { get; set; } = new(2026, 1, 31, 12, 0, 0, TimeSpan.Zero);

    /// <summary>How far the stopwatch goes on with each look at it.</summary>
    public TimeSpan PerLook { get; set; }

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override DateTimeOffset GetUtcNow() => Now;

    public override long GetTimestamp() => Interlocked.Add(ref _timestamp, PerLook.Ticks);

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        new BackupTasks.ManualClock().CreateTimer(callback, state, dueTime, period);
}
