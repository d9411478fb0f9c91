
using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Encryption;

namespace Treepie.Server.Databases;

/// <summary>Provides one database that belongs to the surrounding application.</summary>
internal sealed class SingleDatabaseSource(Database database) : IDatabaseSource
{
    public IReadOnlyList<string> Names { get; } = [database.Name];

    public SharedDefinitions? Shared => null;

    public IBackupSource Backups { get; } = new SingleBackupSource(database);

    public Database? Find(string name) =>
        string.Equals(name, database.Name, StringComparison.OrdinalIgnoreCase) ? database : null;

    public IReadOnlyList<DatabaseDescription> Describe(string? name = null) =>
        name is null || Find(name) is not null
            ? [new DatabaseDescription(database.Name, database.IsEncrypted, IsOpen: true, Problem: null)]
            : [];

    public void GiveKey(string name, ReadOnlySpan<byte> key, bool keep, bool overwrite) => throw KeyIsNotOurs();

    public void ChangeKey(string name, ReadOnlySpan<byte> key) => throw KeyIsNotOurs();

    public EncryptionReport RotateDataKey(
        string name, IProgress<EncryptionProgress> progress, CancellationToken cancellationToken) => throw KeyIsNotOurs();

    public Database Create(string name, bool encrypted) => Find(name) is not null
        ? throw new ConcurrencyException($"Database '{database.Name}' already exists.")
        : throw WireException.BadRequest($"This program serves the one database '{database.Name}'; it cannot create '{name}'.");

    public Task<BackupReport> BackupAsync(
        Database database, Stream destination, BackupOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken) =>
        database.BackupAsync(destination, options, progress, cancellationToken);

    public Task<BackupReport> ImportAsync(
        Database database, Stream source, ImportOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken) =>
        database.ImportAsync(source, options, progress, cancellationToken);

    public Task<BackupReport> RestoreAsync(
        string name, Stream source, bool encrypted, RestoreOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken) =>
        throw CannotRestore(name);

    public Task<BackupReport> RestoreAsync(
        string name, IReadOnlyList<BackupPart> parts, bool encrypted, RestoreOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken) =>
        throw CannotRestore(name);

    public bool Close(string name) => false;

    public bool Delete(string name, bool deleteFiles) => Find(name) is null
        ? false
        : throw WireException.BadRequest(
            $"Database '{database.Name}' belongs to the program that serves it, which alone can delete it.");

    private WireException CannotRestore(string name) =>
        WireException.BadRequest($"This program serves the one database '{database.Name}'; it cannot restore '{name}'.");

    private WireException KeyIsNotOurs() =>
        WireException.BadRequest(
            $"Database '{database.Name}' belongs to the program that serves it, which alone can give or change its key.");
}
