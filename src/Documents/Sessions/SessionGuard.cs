namespace Treepie.Sessions;

/// <summary>
/// Detects concurrent use of a session, including use while it saves, and throws before anything is changed. A session may move
/// between threads from one call to the next.
/// </summary>
internal sealed class SessionGuard
{
    private const int Saving = -1;

    private int _owner; // 0 if not in use, otherwise the id of the thread in a call, or Saving

    /// <summary>Whether a save is in progress.</summary>
    public bool IsSaving => Volatile.Read(ref _owner) == Saving;

    /// <summary>Enters a call; the scope must be disposed. Nested calls on one thread are allowed.</summary>
    /// <exception cref="InvalidOperationException">Another thread is using the session, or it is saving.</exception>
    public Scope Enter()
    {
        int own = Environment.CurrentManagedThreadId;
        int other = Interlocked.CompareExchange(ref _owner, own, 0);
        return other == 0 ? new Scope(this) : other == own ? default : throw InUse(other);
    }

    /// <summary>Enters a save; the scope must be disposed, possibly on another thread.</summary>
    /// <exception cref="InvalidOperationException">A thread is using the session, or it is saving.</exception>
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

    /// <summary>The scope of a call.</summary>
    internal readonly struct Scope(SessionGuard? guard) : IDisposable
    {
        public void Dispose()
        {
            if (guard is not null)
                Volatile.Write(ref guard._owner, 0);
        }
    }
}
