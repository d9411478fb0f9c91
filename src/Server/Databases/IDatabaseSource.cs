using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Encryption;

namespace Treepie.Server.Databases;

/// <summary>Where the API finds its databases.</summary>
internal interface IDatabaseSource
{
    /// <summary>Names of all databases, sorted.</summary>
    IReadOnlyList<string> Names { get; }

    /// <summary>What the databases share; null: there is only one.</summary>
    SharedDefinitions? Shared { get; }

    /// <summary>The same databases for who backs them up.</summary>
    IBackupSource Backups { get; }

    /// <summary>The database of that name (case-insensitive); null if there is none.</summary>
    Database? Find(string name);

    /// <summary>All databases or, if a name is given, that one or none, without opening any.</summary>
    IReadOnlyList<DatabaseDescription> Describe(string? name = null);

    /// <summary>Creates and opens a database.</summary>
    Database Create(string name, bool encrypted);

    /// <summary>Takes the key of a database; see <see cref="DatabaseCatalog.GiveKey"/>.</summary>
    void GiveKey(string name, ReadOnlySpan<byte> key, bool keep, bool overwrite);

    /// <summary>Gives an encrypted database another key; see <see cref="DatabaseCatalog.ChangeKey"/>.</summary>
    void ChangeKey(string name, ReadOnlySpan<byte> key);

    /// <summary>Encrypts a database anew; see <see cref="DatabaseCatalog.RotateDataKey"/>.</summary>
    EncryptionReport RotateDataKey(string name, IProgress<EncryptionProgress> progress, CancellationToken cancellationToken);

    /// <summary>See <see cref="DatabaseCatalog.BackupAsync"/>.</summary>
    Task<BackupReport> BackupAsync(
        Database database, Stream destination, BackupOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken);

    /// <summary>See <see cref="DatabaseCatalog.ImportAsync"/>.</summary>
    Task<BackupReport> ImportAsync(
        Database database, Stream source, ImportOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken);

    /// <summary>
    /// See
    /// <see cref="DatabaseCatalog.RestoreAsync(string, Stream, bool, RestoreOptions?, IProgress{BackupProgress}?, CancellationToken)"/>.
    /// </summary>
    Task<BackupReport> RestoreAsync(
        string name, Stream source, bool encrypted, RestoreOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken);

    /// <summary>The same of a full backup and what goes on from it.</summary>
    Task<BackupReport> RestoreAsync(
        string name, IReadOnlyList<BackupPart> parts, bool encrypted, RestoreOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken);

    /// <summary>See <see cref="DatabaseCatalog.Close"/>.</summary>
    bool Close(string name);

    /// <summary>Closes a database that nobody uses, with its files if asked; false if there is none.</summary>
    bool Delete(string name, bool deleteFiles);
}
