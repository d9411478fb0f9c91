using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Encryption;

namespace Treepie.Server.Databases;

/// <summary>Provides the databases of the API.</summary>
internal interface IDatabaseSource
{
    /// <summary>The names of all databases, sorted.</summary>
    IReadOnlyList<string> Names { get; }

    /// <summary>What the databases share; null if there is only one.</summary>
    SharedDefinitions? Shared { get; }

    /// <summary>The same databases for the backup scheduler.</summary>
    IBackupSource Backups { get; }

    /// <summary>Returns the database of that name (case-insensitive); null if there is none.</summary>
    Database? Find(string name);

    /// <summary>Describes all databases or, if a name is given, that one or none, without opening any.</summary>
    IReadOnlyList<DatabaseDescription> Describe(string? name = null);

    /// <summary>Creates and opens a database.</summary>
    Database Create(string name, bool encrypted);

    /// <summary>Accepts the key of a database; see <see cref="DatabaseCatalog.GiveKey"/>.</summary>
    void GiveKey(string name, ReadOnlySpan<byte> key, bool keep, bool overwrite);

    /// <summary>Changes the key of an encrypted database; see <see cref="DatabaseCatalog.ChangeKey"/>.</summary>
    void ChangeKey(string name, ReadOnlySpan<byte> key);

    /// <summary>Re-encrypts a database; see <see cref="DatabaseCatalog.RotateDataKey"/>.</summary>
    EncryptionReport RotateDataKey(string name, IProgress<EncryptionProgress> progress, CancellationToken cancellationToken);

    /// <summary>See <see cref="DatabaseCatalog.BackupAsync"/>.</summary>
    Task<BackupReport> BackupAsync(
        Database database, Stream destination, BackupOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken);

    /// <summary>See <see cref="DatabaseCatalog.ImportAsync"/>.</summary>
    Task<BackupReport> ImportAsync(
        Database database, Stream source, ImportOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken);

    /// <summary>Restores a backup to a new database; see <see cref="DatabaseCatalog"/>.</summary>
    Task<BackupReport> RestoreAsync(
        string name, Stream source, bool encrypted, RestoreOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken);

    /// <summary>Same as above, for a full backup and the backups that continue it.</summary>
    Task<BackupReport> RestoreAsync(
        string name, IReadOnlyList<BackupPart> parts, bool encrypted, RestoreOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken);

    /// <summary>See <see cref="DatabaseCatalog.Close"/>.</summary>
    bool Close(string name);

    /// <summary>
    /// Deletes a database that is not in use, with its files if requested; returns false if there is none.
    /// </summary>
    bool Delete(string name, bool deleteFiles);
}
