namespace Treepie.Storage.Transactions;

/// <summary>
/// How checkpoints go: how many, the last error, and when to try again. A checkpoint that fails is no harm by itself, because
/// journal and scratch have everything; tried again at once it would fail again and cost every writer. So each failure in a row
/// doubles the wait.
/// </summary>
/// <remarks>Fields are set by whoever runs the checkpoint, one at a time; read by anyone.</remarks>
internal sealed class CheckpointHealth(TimeProvider clock)
{
    /// <summary>
    /// Waits after the first failure, and at most, in ms: soon enough for a disk that was full for a moment, seldom enough for
    /// one that is gone.
    /// </summary>
    private const long FirstWaitMs = 250;
    private const long MaxWaitMs = 60_000;

    private readonly long _start = clock.GetTimestamp();
    private Exception? _error;
    private long _notBeforeMs;
    private long _lastMs = -1;
    private long _count;
    private int _failures;

    /// <summary>What the last attempt failed with, or null.</summary>
    public Exception? LastError => Volatile.Read(ref _error);

    /// <summary>Attempts in a row that failed.</summary>
    public int Failures => Volatile.Read(ref _failures);

    /// <summary>Checkpoints written since opening.</summary>
    public long Count => Volatile.Read(ref _count);

    /// <summary>Time since the last one that succeeded; null before the first.</summary>
    public TimeSpan? SinceLast =>
        Volatile.Read(ref _lastMs) is >= 0 and var last ? TimeSpan.FromMilliseconds(NowMs - last) : null;

    /// <summary>How long to wait before the next attempt that nobody asked for; zero or less: none.</summary>
    public TimeSpan WaitLeft => TimeSpan.FromMilliseconds(Failures == 0 ? 0 : Volatile.Read(ref _notBeforeMs) - NowMs);

    private long NowMs => (long)clock.GetElapsedTime(_start).TotalMilliseconds;

    public void Succeeded()
    {
        Volatile.Write(ref _error, null);
        Volatile.Write(ref _failures, 0);
        Volatile.Write(ref _lastMs, NowMs);
        Interlocked.Increment(ref _count);
    }

    public void Failed(Exception error)
    {
        int failures = Failures + 1;
        Volatile.Write(ref _notBeforeMs, NowMs + Math.Min(MaxWaitMs, FirstWaitMs << Math.Min(failures - 1, 20)));
        Volatile.Write(ref _failures, failures);
        Volatile.Write(ref _error, error);
    }
}
