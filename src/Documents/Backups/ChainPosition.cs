using Treepie.Indexes;

namespace Treepie.Backups;

/// <summary>Whether a database stands where a chain of snapshots, increments and logs ends.</summary>
internal static class ChainPosition
{
    /// <summary>
    /// Whether nothing has been committed since the end of a chain. Commits of the documents' store decide, because identities,
    /// definitions and settings change without an etag; the store's id decides,
    /// because a restored database counts its commits and etags again. How far an index has come does not count: that follows
    /// from the documents.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="kind">What would be taken: pages go on from the last pages, the log from where the log ends.</param>
    /// <param name="end">The end of the chain.</param>
    public static bool IsAt(Database database, BackupKind kind, BackupLink end)
    {
        if (end.Stores.Count == 0 || end.Stores[0].StoreId != database.Environment.StoreId)
            return false;

        long commit = database.Environment.GetStatistics().LastTransactionId;
        if (kind == BackupKind.Log)
            return commit == (database.Log.HoldsAfter(end.LogCommit) ? end.LogCommit : Math.Max(end.LogCommit, end.Commit));
        return commit == end.Commit && HasSameIndexes(database, end);
    }

    private static bool HasSameIndexes(Database database, BackupLink end)
    {
        IReadOnlyList<HeldIndex> indexes = database.Indexes.Hold();
        try
        {
            var now = indexes.Select(static index => (SnapshotNames.OfIndex(index.Folder), index.Index.Store.StoreId))
                .ToHashSet();
            return now.SetEquals(end.Stores.Skip(1).Select(static store => (store.Name, store.StoreId)));
        }
        finally
        {
            foreach (HeldIndex index in indexes)
                index.Index.Release();
        }
    }
}
