namespace Treepie.Storage.Simulation;

/// <summary>A clock that fails at some readings, to cause errors where none are expected.</summary>
/// <param name="clock">The clock that works.</param>
/// <param name="isFailing">Called at each reading; returns whether it fails.</param>
internal sealed class FailingClock(SimulatedClock clock, Func<bool> isFailing) : TimeProvider
{
    public override long TimestampFrequency => clock.TimestampFrequency;

    public override long GetTimestamp() =>
        isFailing() ? throw new InvalidOperationException("The clock is broken.") : clock.GetTimestamp();

    public override DateTimeOffset GetUtcNow() => clock.GetUtcNow();

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        isFailing()
            ? throw new InvalidOperationException("The clock is broken.")
            : clock.CreateTimer(callback, state, dueTime, period);
}
