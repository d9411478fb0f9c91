namespace Treepie.Clients.Tests.S3;

/// <summary>A clock whose timers fire at once, after what a test does in the meantime: nobody waits for time to pass.</summary>
internal sealed class HastyClock(Func<Task>? meanwhile = null) : TimeProvider
{
    private int _waits;

    /// <summary>How often somebody waited.</summary>
    public int Waits => _waits;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        Interlocked.Increment(ref _waits);
        _ = Task.Run(async () =>
        {
            if (meanwhile is not null)
                await meanwhile();
            callback(state);
        });
        return new Nothing();
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
