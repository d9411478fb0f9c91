using Treepie.Backups;

namespace Treepie.BackupTasks;

/// <summary>Whose backups a <see cref="BackupScheduler"/> sees to. Thread-safe.</summary>
public interface IBackupSource
{
    /// <summary>Names of all databases.</summary>
    IReadOnlyList<string> Names { get; }

    /// <summary>Whether a database may have backup tasks; false: it need not be opened.</summary>
    bool MayHaveTasks(string name);

    /// <summary>Opens a database and keeps it open until the lease is disposed.</summary>
    /// <exception cref="BackupTaskException">There is none of that name.</exception>
    IBackupLease Enter(string name);
}

/// <summary>A database that stays open.</summary>
public interface IBackupLease : IDisposable
{
    /// <summary>The database.</summary>
    Database Database { get; }

    /// <summary>Cancelled when the database is to close: end soon.</summary>
    CancellationToken Closing { get; }

    /// <summary>
    /// A mark of the key that backups of it are sealed with where no other is given, which changes with the key; null where there
    /// is none.
    /// </summary>
    string? KeyMark { get; }

    /// <summary>Backs it up; where it is encrypted and no key is given, sealed with its own if that is known.</summary>
    Task<BackupReport> BackupAsync(
        Stream destination, BackupOptions options, IProgress<BackupProgress>? progress, CancellationToken cancellationToken);

    /// <summary>Reads a full backup of it, and the increments that go on from it, to their ends.</summary>
    Task<BackupReport> VerifyAsync(
        IReadOnlyList<BackupPart> parts, RestoreOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken);
}

/// <summary>
/// One database, which stays its owner's to close. Where it is encrypted, tasks say where the key of their backups is.
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
        // the database is its owner's
    }
}
