namespace Treepie.Store;

/// <summary>Lets one in at a time and never waits; unlike a lock it refuses the thread that is in, too. Thread-safe.</summary>
internal sealed class OneAtATime
{
    private int _isTaken;

    /// <summary>Whether nobody was in; who gets true calls <see cref="End"/>.</summary>
    public bool TryBegin() => Interlocked.CompareExchange(ref _isTaken, 1, 0) == 0;

    /// <summary>The next may come in.</summary>
    public void End() => Volatile.Write(ref _isTaken, 0);
}
