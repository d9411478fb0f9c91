namespace Treepie.Storage.Simulation;

/// <summary>A clock of which some readings fail: an error at a place where nobody expects one.</summary>
/// <param name="clock">The one that goes right.</param>
/// <param name="isFailing">Asked for each reading.</param>
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
