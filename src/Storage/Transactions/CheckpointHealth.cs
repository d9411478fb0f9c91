namespace Treepie.Storage.Transactions;

/// <summary>
/// Tracks checkpoint outcomes: how many succeeded, the last error, and when to retry. A failed checkpoint loses nothing,
/// because journal and scratch still hold everything, but an immediate retry would probably fail again and slow down every
/// writer. So each consecutive failure doubles the wait.
/// </summary>
/// <remarks>Fields are written by the thread that runs the checkpoint, one at a time; any thread may read them.</remarks>
internal sealed class CheckpointHealth(TimeProvider clock)
{
    /// <summary>
    /// First and longest wait after a failure, in ms: short enough for a disk that was full for a moment, long enough for one
    /// that is gone.
    /// </summary>
    private const long FirstWaitMs = 250;
    private const long MaxWaitMs = 60_000;

    private readonly long _start = clock.GetTimestamp();
    private Exception? _error;
    private long _notBeforeMs;
    private long _lastMs = -1;
    private long _count;
    private int _failures;

    /// <summary>The error of the last attempt, or null if it succeeded.</summary>
    public Exception? LastError => Volatile.Read(ref _error);

    /// <summary>Number of consecutive failed attempts.</summary>
    public int Failures => Volatile.Read(ref _failures);

    /// <summary>Checkpoints written since opening.</summary>
    public long Count => Volatile.Read(ref _count);

    /// <summary>Time since the last successful checkpoint; null before the first.</summary>
    public TimeSpan? SinceLast =>
        Volatile.Read(ref _lastMs) is >= 0 and var last ? TimeSpan.FromMilliseconds(NowMs - last) : null;

    /// <summary>Remaining wait before the next automatic attempt; zero or negative if it may start now.</summary>
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
