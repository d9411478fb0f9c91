namespace Treepie.Sessions;

/// <summary>
/// Notices that a session is used by two threads at once, or while it saves, and says so before anything is changed. A session
/// may go from thread to thread, one call after another.
/// </summary>
internal sealed class SessionGuard
{
    private const int Saving = -1;

    private int _owner; // 0: nobody; else the thread at work, or Saving

    /// <summary>Whether a save is on its way.</summary>
    public bool IsSaving => Volatile.Read(ref _owner) == Saving;

    /// <summary>Begins a call, to be disposed; calls within calls of one thread are one.</summary>
    /// <exception cref="InvalidOperationException">Another thread is at work in the session, or it saves.</exception>
    public Scope Enter()
    {
        int own = Environment.CurrentManagedThreadId;
        int other = Interlocked.CompareExchange(ref _owner, own, 0);
        return other == 0 ? new Scope(this) : other == own ? default : throw InUse(other);
    }

    /// <summary>Begins a save, to be disposed, maybe by another thread.</summary>
    /// <exception cref="InvalidOperationException">A thread is at work in the session, or it saves.</exception>
    public Scope EnterSave()
    {
        int other = Interlocked.CompareExchange(ref _owner, Saving, 0);
        return other == 0 ? new Scope(this) : throw InUse(other);
    }

    private static InvalidOperationException InUse(int other) => new(
        other == Saving
            ? "The session is used while it saves. Await SaveChangesAsync before the next call. Nothing was changed by this one."
            : "The session is used by two threads at once. Open a session for each: they cost next to nothing. Nothing was "
                + "changed by this call.");

    /// <summary>The time of a call.</summary>
    internal readonly struct Scope(SessionGuard? guard) : IDisposable
    {
        public void Dispose()
        {
            if (guard is not null)
                Volatile.Write(ref guard._owner, 0);
        }
    }
}
