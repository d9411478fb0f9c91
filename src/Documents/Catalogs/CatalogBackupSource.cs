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

        public BackupKey? TakeKey() => catalog.TakeKey(database.Name);

        public void Dispose()
        {
            // The catalogue closes its databases.
        }
    }
}
