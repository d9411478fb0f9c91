using Treepie.Store;

namespace Treepie.Backups;

/// <summary>Whether a logical backup can go on from another, and what has to be in it then.</summary>
internal static class DumpIncrement
{
    /// <summary>What the header of the increment says.</summary>
    /// <param name="database">The database.</param>
    /// <param name="snapshot">The state that is backed up.</param>
    /// <param name="point">Where that stands.</param>
    /// <param name="link">What it is to go on from.</param>
    /// <exception cref="BackupException">It cannot; the message says why, and what to do.</exception>
    public static DumpSince Since(Database database, DatabaseSnapshot snapshot, DumpPoint point, BackupLink link)
    {
        if (link.Dump is not { } before)
            throw new BackupException(
                BackupFault.Foreign,
                "The backup to go on from is a snapshot: a logical backup does not go on from pages. Begin with a full logical "
                    + "backup.");
        if (before.StoreId != point.StoreId || before.Etag > point.Etag)
            throw new BackupException(
                BackupFault.Foreign,
                $"The backup to go on from is of another database than '{database.Name}', or of what this was before it was "
                    + $"restored. Begin with a full backup.");
        if (snapshot.PurgedUpTo is var purged && purged > before.Etag)
        {
            throw new BackupException(
                BackupFault.LogGap,
                $"Deletions after etag {before.Etag}, where the backup before ends, are forgotten up to {purged}, so nobody "
                    + $"knows what to delete. Take a full backup, and forget tombstones only up to the last backup.");
        }

        return new DumpSince(
            before.Etag, link.Hash, purged, before.Indexes != point.Indexes, before.Identities != point.Identities,
            snapshot.DocumentCount, snapshot.TombstoneCount)
        { Beside = snapshot.Kinds.Total };
    }

    /// <summary>Whether a backup of a kind can go on from another now.</summary>
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
