using Treepie.Indexes;
using Treepie.Storage;
using Treepie.Store;

namespace Treepie;

/// <summary>Figures of a database at one moment.</summary>
public sealed record DatabaseStatistics
{
    /// <summary>Documents.</summary>
    public required long DocumentCount { get; init; }

    /// <summary>Tombstones of deleted documents that are still kept.</summary>
    public required long TombstoneCount { get; init; }

    /// <summary>Compare-exchange values, atomic guards included.</summary>
    public long CompareExchangeCount { get; init; }

    /// <summary>Deletions of compare-exchange values that are still kept.</summary>
    public long CompareExchangeTombstoneCount { get; init; }

    /// <summary>Attachments of all documents.</summary>
    public long AttachmentCount { get; init; }

    /// <summary>Contents of attachments, each counted once.</summary>
    public long UniqueAttachmentCount { get; init; }

    /// <summary>Counters of all documents.</summary>
    public long CounterCount { get; init; }

    /// <summary>Segments of time series.</summary>
    public long TimeSeriesSegmentCount { get; init; }

    /// <summary>Revisions of documents.</summary>
    public long RevisionCount { get; init; }

    /// <summary>Identities.</summary>
    public long IdentityCount { get; init; }

    /// <summary>Etag of the last change.</summary>
    public required long LastEtag { get; init; }

    /// <summary>Change vector of the last change; empty for an empty database.</summary>
    public required string ChangeVector { get; init; }

    /// <summary>Bytes on disk, indexes included.</summary>
    public required long SizeOnDiskBytes { get; init; }

    /// <summary>Whether all its files are encrypted.</summary>
    public required bool IsEncrypted { get; init; }

    /// <summary>Bytes of decrypted pages in memory now, of documents and indexes; 0 in a plain database.</summary>
    public long DecryptedBytes { get; init; }

    /// <summary>
    /// Whether the system keeps decrypted pages out of swap; in a plain database false. Where it does not, raise the limit of
    /// locked memory (<c>ulimit -l</c>).
    /// </summary>
    public bool IsDecryptedMemoryLocked { get; init; }

    /// <summary>
    /// Snapshots that somebody has open: requests, cursors, backups. Each keeps the pages it sees from being used again.
    /// </summary>
    public int OpenSnapshots { get; init; }

    /// <summary>Indexes.</summary>
    public required IReadOnlyList<IndexStatistics> Indexes { get; init; }

    internal static DatabaseStatistics Of(Database database)
    {
        long decryptedBytes = database.DecryptedBytes; // before this reads
        using DatabaseSnapshot snapshot = database.BeginRead();
        StorageStatistics storage = database.Environment.GetStatistics();
        return new DatabaseStatistics
        {
            DocumentCount = snapshot.DocumentCount,
            TombstoneCount = snapshot.TombstoneCount,
            LastEtag = snapshot.LastEtag,
            ChangeVector = snapshot.ChangeVector,
            CompareExchangeCount = snapshot.Kinds.Count(Kind.CompareExchange),
            CompareExchangeTombstoneCount = snapshot.Kinds.DeletedCount(Kind.CompareExchange),
            AttachmentCount = snapshot.Kinds.Count(Kind.Attachment),
            UniqueAttachmentCount = snapshot.Kinds.ContentCount,
            CounterCount = snapshot.Kinds.Count(Kind.Counter),
            TimeSeriesSegmentCount = snapshot.Kinds.Count(Kind.TimeSeries),
            RevisionCount = snapshot.Kinds.Count(Kind.Revision),
            IdentityCount = snapshot.IdentityCount,
            SizeOnDiskBytes = DatabaseFormat.SizeOnDiskBytes(database.DataDirectory),
            IsEncrypted = database.IsEncrypted,
            DecryptedBytes = decryptedBytes,
            OpenSnapshots = storage.OpenReaders - 1, // without this one
            IsDecryptedMemoryLocked = storage.IsDecryptedMemoryLocked,
            Indexes = database.Indexes.List(),
        };
    }
}
