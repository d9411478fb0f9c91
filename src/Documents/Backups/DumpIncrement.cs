using Treepie.Store;

namespace Treepie.Backups;

/// <summary>Determines whether a logical backup can continue another one, and what it must contain then.</summary>
internal static class DumpIncrement
{
    /// <summary>Creates the part of the increment's header that describes the backup it continues.</summary>
    /// <param name="database">The database.</param>
    /// <param name="snapshot">The state to back up.</param>
    /// <param name="point">The position of that state.</param>
    /// <param name="link">The link of the backup to continue.</param>
    /// <exception cref="BackupException">The backup cannot be continued; the message says why, and what to do.</exception>
    public static DumpSince Since(Database database, DatabaseSnapshot snapshot, DumpPoint point, BackupLink link)
    {
        if (link.Dump is not { } before)
            throw new BackupException(
                BackupFault.Foreign,
                "The backup to continue is a snapshot, and a logical backup continues logical ones only. Begin with a full "
                    + "logical backup.");
        if (before.StoreId != point.StoreId || before.Etag > point.Etag)
            throw new BackupException(
                BackupFault.Foreign,
                $"The backup to continue is of another database than '{database.Name}', or was taken before this database was "
                    + "restored. Begin with a full backup.");
        if (snapshot.PurgedUpTo is var purged && purged > before.Etag)
        {
            throw new BackupException(
                BackupFault.LogGap,
                $"Tombstones up to etag {purged} have been removed, and the backup to continue ends at etag {before.Etag}: the "
                    + "increment would lack deletions. Take a full backup, and remove tombstones only up to the last backup.");
        }

        return new DumpSince(
            before.Etag, link.Hash, purged, before.Indexes != point.Indexes, before.Identities != point.Identities,
            snapshot.DocumentCount, snapshot.TombstoneCount)
        { Beside = snapshot.Kinds.Total };
    }

    /// <summary>Returns whether a backup of the given kind can continue another one now.</summary>
    public static bool CanGoOn(Database database, BackupKind kind, BackupLink link)
    {
        if (kind != BackupKind.Logical)
            return link.Dump is null && link.Stores[0].StoreId == database.Environment.StoreId;

        using DatabaseSnapshot snapshot = database.BeginRead();
        return link.Dump is { } before
            && before.StoreId == database.Environment.StoreId
            && before.Etag <= snapshot.LastEtag
            && snapshot.PurgedUpTo <= before.Etag;
    }
}
