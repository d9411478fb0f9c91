namespace Treepie.Server.Databases;

/// <summary>The right to use a database until the lease is disposed: closing and deleting wait for it.</summary>
/// <param name="door">The door through which the holder leaves.</param>
/// <param name="database">The database.</param>
/// <param name="clock">
/// Provides the time of the last use; null: the lease is for examining the database, which does not count as use.
/// </param>
internal sealed class DatabaseLease(DatabaseGate.Door door, Database database, TimeProvider? clock) : IDisposable
{
    private int _disposed;

    public Database Database => database;

    /// <summary>Cancelled when the database is being deleted; work must then end soon.</summary>
    public CancellationToken Closing => door.Closing;

    public void Dispose()
    {
        if (Interlocked.Exchange(ref _disposed, 1) == 0)
            door.Leave(clock?.GetTimestamp());
    }
}
