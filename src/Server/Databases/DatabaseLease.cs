namespace Treepie.Server.Databases;

/// <summary>The right to use a database until it is disposed: deleting waits for it.</summary>
internal sealed class DatabaseLease(DatabaseGate.Door door, Database database) : IDisposable
{
    private int disposed;

    public Database Database => database;

    /// <summary>Cancelled when somebody deletes the database: end soon.</summary>
    public CancellationToken Closing => door.Closing;

    public void Dispose()
    {
        if (Interlocked.Exchange(ref disposed, 1) == 0)
            door.Leave();
    }
}
