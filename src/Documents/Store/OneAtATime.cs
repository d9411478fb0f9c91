namespace Treepie.Store;

/// <summary>
/// Admits one caller at a time and never waits; unlike a lock, it also rejects the thread that was admitted. Thread-safe.
/// </summary>
internal sealed class OneAtATime
{
    private int _isTaken;

    /// <summary>Returns whether the caller was admitted; if so, it must call <see cref="End"/>.</summary>
    public bool TryBegin() => Interlocked.CompareExchange(ref _isTaken, 1, 0) == 0;

    /// <summary>Admits the next caller.</summary>
    public void End() => Volatile.Write(ref _isTaken, 0);
}
