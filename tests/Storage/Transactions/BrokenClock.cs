namespace Treepie.Storage.Tests.Transactions;

/// <summary>A clock that fails on request, to cause errors where none are expected.</summary>
internal sealed class BrokenClock : TimeProvider
{
    /// <summary>Whether creating timers fails.</summary>
    public bool RefusesTimers { get; set; }

    /// <summary>Number of further readings of the clock that fail.</summary>
    public int Failures { get; set; }

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() => Failures-- > 0 ? throw new InvalidOperationException("The clock is broken.") : 0;

    public override DateTimeOffset GetUtcNow() => DateTimeOffset.UnixEpoch;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        RefusesTimers
            ? throw new OutOfMemoryException("No timer can be created.")
            : System.CreateTimer(callback, state, dueTime, period);
}
