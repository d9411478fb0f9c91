using Treepie.Indexes.Definitions;
using Treepie.Storage.Backups;
using Treepie.Store;

namespace Treepie.Backups;

/// <summary>
/// Computes the content hash of a database in the order of a backup, to compare a restored database with its backup.
/// </summary>
internal static class SnapshotHash
{
    private const int DocumentsPerRelease = 256;

    /// <summary>
    /// Reads the whole database, or the changes since a backup. <paramref name="withCollections"/> includes the collections,
    /// as whole backups and increments do. <paramref name="report"/> is called every few hundred documents.
    /// </summary>
    public static (BackupCounts Counts, string Hash) Compute(
        DatabaseSnapshot snapshot,
        Guid databaseId,
        BackupHashKind kind,
        IReadOnlyList<IndexMapping> indexes,
        bool withCollections,
        DumpSince? since,
        Action<long>? report,
        CancellationToken cancellationToken)
    {
        using var hash = new ContentHash(kind);
        hash.Database(databaseId, snapshot.LastEtag);
        if (since is not null)
            hash.Since(since);
        long after = since?.LastEtag ?? 0;
        using (DocumentCursor cursor = snapshot.ByEtag(after))
        {
            bool more = true;
            while (more)
            {
                cancellationToken.ThrowIfCancellationRequested();
                report?.Invoke(hash.Counts.Documents);
                more = AddPiece(hash, cursor);
                snapshot.ReleasePages();
            }
        }

        using (LogReader tombstones = snapshot.Tombstones(after))
        {
            while (tombstones.MoveNext())
            {
                var record = new TombstoneRecord(tombstones.Value);
                hash.Tombstone(
                    tombstones.Etag, record.DeletedAtTicks, record.IsSuperseded, record.Id,
                    snapshot.NameOf(record.CollectionId).Utf8);
            }
        }

        AddBeside(hash, snapshot, after, cancellationToken);
        if (since is not { HoldsIndexes: false })
            foreach (IndexMapping index in indexes)
                hash.Index(index);
        if (since is not { HoldsIdentities: false })
            foreach ((string name, long value) in snapshot.Identities())
                hash.Identity(name, value);
        if (withCollections)
            foreach (CollectionStatistics collection in snapshot.AllCollections())
                hash.Collection(collection.Name, collection.DocumentCount, collection.SizeBytes, collection.LastEtag);
        BackupCounts counts = hash.Counts;
        return (counts, hash.Finish());
    }

    private static void AddBeside(ContentHash hash, DatabaseSnapshot snapshot, long after, CancellationToken cancellationToken)
    {
        KindItems kinds = snapshot.Kinds;
        long seen = 0;
        foreach ((Kind kind, _, _) in DumpKinds.All)
        {
            using LogReader log = kinds.Log(after);
            while (log.MoveNext())
            {
                cancellationToken.ThrowIfCancellationRequested();
                ReadOnlySpan<byte> key = log.Value;
                if (KindKey.KindOf(key) != kind)
                    continue;
                KindRecord record = kinds.RecordOf(key);
                hash.Beside(
                    record.Etag, record.Ticks, isDeleted: false, key, record.Name,
                    kind == Kind.Revision ? kinds.RevisionValue(key) : record.Value);
                if (++seen % DocumentsPerRelease == 0)
                    snapshot.ReleasePages();
            }
        }

        using LogReader deletions = kinds.Deletions(after);
        while (deletions.MoveNext())
        {
            KindRecord record = kinds.RecordOf(deletions.Value);
            hash.Beside(record.Etag, record.Ticks, isDeleted: true, deletions.Value, record.Name, default);
        }
    }

    /// <summary>Adds the next documents; returns false after the last one.</summary>
    private static bool AddPiece(ContentHash hash, DocumentCursor cursor)
    {
        for (int left = DocumentsPerRelease; left > 0; left--)
        {
            if (!cursor.MoveNext())
                return false;
            Document document = cursor.Current;
            hash.Document(
                document.Etag, document.LastModifiedTicks, document.Id, document.Collection, document.Metadata, document.Body);
        }

        return true;
    }
}
