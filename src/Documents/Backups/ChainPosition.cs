using Treepie.Indexes;

namespace Treepie.Backups;

/// <summary>Determines whether a database is still at the end of a chain of snapshots, increments and logs.</summary>
internal static class ChainPosition
{
    /// <summary>
    /// Returns whether nothing has been committed since the end of a chain. Compares commits of the documents' store, because
    /// identities, definitions and settings change without an etag, and the store's id, because a restored database starts
    /// commit numbers and etags anew. The progress of an index is ignored: it follows from the documents.
    /// </summary>
    /// <param name="database">The database.</param>
    /// <param name="kind">
    /// The kind of backup that would be taken: a snapshot continues from the last pages, a log backup from the end of the
    /// log.
    /// </param>
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
