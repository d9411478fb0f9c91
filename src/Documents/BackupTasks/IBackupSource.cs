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
    /// A fingerprint of the key that encrypts backups of the database if no other key is given; changes with the key. Null if
    /// there is none.
    /// </summary>
    string? KeyMark { get; }

    /// <summary>
    /// Backs up the database. If it is encrypted and no key is given, the backup is encrypted with the key of the database, if
    /// known.
    /// </summary>
    Task<BackupReport> BackupAsync(
        Stream destination, BackupOptions options, IProgress<BackupProgress>? progress, CancellationToken cancellationToken);

    /// <summary>Verifies a full backup of the database and the increments that continue it by reading them in full.</summary>
    Task<BackupReport> VerifyAsync(
        IReadOnlyList<BackupPart> parts, RestoreOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken);
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
    public string? KeyMark => null;

    /// <inheritdoc/>
    public bool MayHaveTasks(string name) => true;

    /// <inheritdoc/>
    public IBackupLease Enter(string name) =>
        string.Equals(name, database.Name, StringComparison.OrdinalIgnoreCase)
            ? this
            : throw new BackupTaskException($"There is no database '{name}'.");

    /// <inheritdoc/>
    public Task<BackupReport> BackupAsync(
        Stream destination, BackupOptions options, IProgress<BackupProgress>? progress, CancellationToken cancellationToken) =>
        database.BackupAsync(destination, options, progress, cancellationToken);

    /// <inheritdoc/>
    public Task<BackupReport> VerifyAsync(
        IReadOnlyList<BackupPart> parts, RestoreOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken) =>
        BackupParts.VerifyAsync(parts, options, progress, cancellationToken);

    /// <inheritdoc/>
    public void Dispose()
    {
        // the caller owns the database
    }
}
