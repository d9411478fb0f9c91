using Treepie.Backups;

namespace Treepie.BackupTasks;

/// <summary>Provides the databases whose backup tasks a <see cref="BackupScheduler"/> runs. Thread-safe.</summary>
public interface IBackupSource
{
    /// <summary>The names of all databases.</summary>
    IReadOnlyList<string> Names { get; }

    /// <summary>Returns whether a database may have backup tasks. If false, the scheduler does not open it.</summary>
    bool MayHaveTasks(string name);

    /// <summary>Opens a database and keeps it open until the lease is disposed.</summary>
    /// <exception cref="BackupTaskException">The database does not exist.</exception>
    IBackupLease Enter(string name);
}

/// <summary>Keeps a database open until it is disposed.</summary>
public interface IBackupLease : IDisposable
{
    /// <summary>The database.</summary>
    Database Database { get; }

    /// <summary>Cancelled when the database is about to close; work should end soon.</summary>
    CancellationToken Closing { get; }

    /// <summary>
    /// Returns a copy of the key of the database, which the caller disposes: if a task has no other key, it encrypts the backups
    /// of the database. Null: the database is not encrypted, or its key is not known.
    /// </summary>
    BackupKey? TakeKey();
}

/// <summary>
/// A single database, which the caller closes. If it is encrypted, tasks must specify the source of the key of their backups.
/// </summary>
public sealed class SingleBackupSource(Database database) : IBackupSource, IBackupLease
{
    /// <inheritdoc/>
    public IReadOnlyList<string> Names { get; } = [database.Name];

    /// <inheritdoc/>
    public Database Database => database;

    /// <inheritdoc/>
    public CancellationToken Closing => CancellationToken.None;

    /// <inheritdoc/>
    public bool MayHaveTasks(string name) => true;

    /// <inheritdoc/>
    public IBackupLease Enter(string name) =>
        string.Equals(name, database.Name, StringComparison.OrdinalIgnoreCase)
            ? this
            : throw new BackupTaskException($"There is no database '{name}'.");

    /// <inheritdoc/>
    public BackupKey? TakeKey() => null;

    /// <inheritdoc/>
    public void Dispose()
    {
        // the caller owns the database
    }
}
