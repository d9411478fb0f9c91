using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Catalogs;
using Treepie.Encryption;

namespace Treepie.Server.Databases;

/// <summary>Provides the databases of a catalogue.</summary>
internal sealed class CatalogSource(DatabaseCatalog catalog) : IDatabaseSource
{
    public IReadOnlyList<string> Names => catalog.Names;

    public SharedDefinitions? Shared => catalog.Shared;

    public IBackupSource Backups { get; } = new CatalogBackupSource(catalog);

    public Database? Find(string name) => catalog.Find(name);

    public IReadOnlyList<DatabaseDescription> Describe(string? name = null) => name is null
        ? catalog.Describe()
        : catalog.Describe(name) is { } database ? [database] : [];

    public Database Create(string name, bool encrypted) => catalog.Create(name, encrypted);

    public void GiveKey(string name, ReadOnlySpan<byte> key, bool keep, bool overwrite) =>
        catalog.GiveKey(name, key, keep, overwrite);

    public void ChangeKey(string name, ReadOnlySpan<byte> key) => catalog.ChangeKey(name, key);

    public EncryptionReport RotateDataKey(
        string name, IProgress<EncryptionProgress> progress, CancellationToken cancellationToken) =>
        catalog.RotateDataKey(name, progress, cancellationToken);

    public Task<BackupReport> BackupAsync(
        Database database, Stream destination, BackupOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken) =>
        catalog.BackupAsync(database.Name, destination, options, progress, cancellationToken);

    public Task<BackupReport> ImportAsync(
        Database database, Stream source, ImportOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken) =>
        catalog.ImportAsync(database.Name, source, options, progress, cancellationToken);

    public Task<BackupReport> RestoreAsync(
        string name, Stream source, bool encrypted, RestoreOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken) =>
        catalog.RestoreAsync(name, source, encrypted, options, progress, cancellationToken);

    public Task<BackupReport> RestoreAsync(
        string name, IReadOnlyList<BackupPart> parts, bool encrypted, RestoreOptions options, IProgress<BackupProgress> progress,
        CancellationToken cancellationToken) =>
        catalog.RestoreAsync(name, parts, encrypted, options, progress, cancellationToken);

    public bool Close(string name) => catalog.Close(name);

    public bool Delete(string name, bool deleteFiles) => catalog.Delete(name, deleteFiles);
}
