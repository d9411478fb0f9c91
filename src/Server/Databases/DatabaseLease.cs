namespace Treepie.Server.Databases;

/// <summary>The right to use a database until it is disposed: closing and deleting wait for it.</summary>
/// <param name="door">Where its holder leaves.</param>
/// <param name="database">The database.</param>
/// <param name="clock">Tells the time when it is disposed; null: it is for looking at the database, which is no use of
/// it.</param>
internal sealed class DatabaseLease(DatabaseGate.Door door, Database database, TimeProvider? clock) : IDisposable
{
    private int _disposed;

    public Database Database => database;

    /// <summary>Cancelled when somebody deletes the database: end soon.</summary>
    public CancellationToken Closing => door.Closing;

    public void Dispose()
    {
        if (Interlocked.Exchange(ref _disposed, 1) == 0)
            door.Leave(clock?.GetTimestamp());
    }
}
