using Treepie.Backups;
using Treepie.BackupTasks;

namespace Treepie.Catalogs;

/// <summary>Provides the databases of a catalogue to a <see cref="BackupScheduler"/>.</summary>
public sealed class CatalogBackupSource(DatabaseCatalog catalog) : IBackupSource
{
    /// <inheritdoc/>
    public IReadOnlyList<string> Names => catalog.Names;

    /// <inheritdoc/>
    public bool MayHaveTasks(string name) => catalog.MayHaveBackupTasks(name);

    /// <inheritdoc/>
    public IBackupLease Enter(string name) =>
        new Lease(catalog, catalog.Find(name) ?? throw new BackupTaskException($"There is no database '{name}'."));

    private sealed class Lease(DatabaseCatalog catalog, Database database) : IBackupLease
    {
        public Database Database => database;

        public CancellationToken Closing => CancellationToken.None;

        public string? KeyMark => catalog.KeyMarkOf(database.Name);

        public Task<BackupReport> BackupAsync(
            Stream destination, BackupOptions options, IProgress<BackupProgress>? progress,
            CancellationToken cancellationToken) =>
            catalog.BackupAsync(database.Name, destination, options, progress, cancellationToken);

        public Task<BackupReport> VerifyAsync(
            IReadOnlyList<BackupPart> parts, RestoreOptions options, IProgress<BackupProgress>? progress,
            CancellationToken cancellationToken) =>
            catalog.VerifyBackupAsync(database.Name, parts, options, progress, cancellationToken);

        public void Dispose()
        {
            // The catalogue closes its databases.
        }
    }
}
