using Treepie.Backups;
using Treepie.BackupTasks;
using Treepie.Server.Databases;

namespace Treepie.Server.Backups;

/// <summary>
/// Provides the backup scheduler with databases through the gate, like requests: deleting a database cancels its running
/// backup and waits for it.
/// </summary>
internal sealed class GatedBackups(DatabaseGate gate) : IBackupSource
{
    public IReadOnlyList<string> Names => gate.Source.Backups.Names;

    public bool MayHaveTasks(string name) => gate.Source.Backups.MayHaveTasks(name);

    public IBackupLease Enter(string name)
    {
        DatabaseLease lease = gate.EnterByItself(name);
        try
        {
            return new Lease(lease, gate.Source.Backups.Enter(name));
        }
        catch
        {
            lease.Dispose();
            throw;
        }
    }

    private sealed class Lease(DatabaseLease lease, IBackupLease inner) : IBackupLease
    {
        public Database Database => lease.Database;

        public CancellationToken Closing => lease.Closing;

        public BackupKey? TakeKey() => inner.TakeKey();

        public void Dispose()
        {
            inner.Dispose();
            lease.Dispose();
        }
    }
}
