using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Kinds;

/// <summary>Drops uploads that were in progress when the database was last closed and cannot be continued.</summary>
internal static class UnfinishedUploads
{
    /// <summary>Drops the uploads in steps of bounded size.</summary>
    public static void Drop(StorageEnvironment environment)
    {
        while (First(environment) is { } id)
            environment.Write(transaction => new ContentStore(transaction).Abandon(id));
    }

    private static long? First(StorageEnvironment environment)
    {
        using ReadTransaction read = environment.BeginRead();
        if (read.FindTree(TreeNames.ContentUploads) is not { } uploads)
            return null;
        using Cursor cursor = uploads.OpenCursor();
        return cursor.MoveFirst() ? ContentRecord.IdOf(cursor.Key) : null;
    }
}
