namespace Treepie.Clients.Tests.S3;

/// <summary>
/// A clock whose short timers, which are waits between tries, fire at once, after what a test does in the meantime; long ones,
/// which are time-outs, fire when the test says so. Nobody waits for time to pass.
/// </summary>
internal sealed class HastyClock(Func<Task>? meanwhile = null) : TimeProvider
{
    private static readonly TimeSpan _short = TimeSpan.FromMinutes(1);

    private readonly Lock _lock = new();
    private readonly List<Action> _long = [];
    private int _waits;

    /// <summary>How often somebody waited.</summary>
    public int Waits => _waits;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        if (dueTime > _short || dueTime < TimeSpan.Zero)
        {
            lock (_lock)
                _long.Add(() => callback(state));
            return new Nothing();
        }

        Interlocked.Increment(ref _waits);
        _ = Task.Run(async () =>
        {
            if (meanwhile is not null)
                await meanwhile();
            callback(state);
        });
        return new Nothing();
    }

    /// <summary>Lets all time-outs that run now fire.</summary>
    public void Expire()
    {
        Action[] due;
        lock (_lock)
        {
            due = [.. _long];
            _long.Clear();
        }

        foreach (Action fire in due)
        {
            try
            {
                fire();
            }
            catch (ObjectDisposedException)
            {
                // what it was for is over
            }
        }
    }

    private sealed class Nothing : ITimer
    {
        public bool Change(TimeSpan dueTime, TimeSpan period) => true;

        public void Dispose()
        {
        }

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
