using Treepie.Indexes;
using Treepie.Storage;
using Treepie.Store;

namespace Treepie;

/// <summary>Statistics of a database at one point in time.</summary>
public sealed record DatabaseStatistics
{
    /// <summary>The number of documents.</summary>
    public required long DocumentCount { get; init; }

    /// <summary>The number of tombstones of deleted documents.</summary>
    public required long TombstoneCount { get; init; }

    /// <summary>The number of compare-exchange values, including atomic guards.</summary>
    public long CompareExchangeCount { get; init; }

    /// <summary>The number of tombstones of compare-exchange values.</summary>
    public long CompareExchangeTombstoneCount { get; init; }

    /// <summary>The number of attachments of all documents.</summary>
    public long AttachmentCount { get; init; }

    /// <summary>The number of distinct attachment contents.</summary>
    public long UniqueAttachmentCount { get; init; }

    /// <summary>The number of counters of all documents.</summary>
    public long CounterCount { get; init; }

    /// <summary>The number of segments of time series.</summary>
    public long TimeSeriesSegmentCount { get; init; }

    /// <summary>The number of revisions of documents.</summary>
    public long RevisionCount { get; init; }

    /// <summary>The number of identities.</summary>
    public long IdentityCount { get; init; }

    /// <summary>The etag of the last change.</summary>
    public required long LastEtag { get; init; }

    /// <summary>The change vector of the last change; empty for an empty database.</summary>
    public required string ChangeVector { get; init; }

    /// <summary>The size on disk in bytes, including indexes.</summary>
    public required long SizeOnDiskBytes { get; init; }

    /// <summary>Whether all files of the database are encrypted.</summary>
    public required bool IsEncrypted { get; init; }

    /// <summary>
    /// The size in bytes of decrypted pages in memory, for documents and indexes; 0 for an unencrypted database.
    /// </summary>
    public long DecryptedBytes { get; init; }

    /// <summary>
    /// Whether the system keeps decrypted pages out of swap; false for an unencrypted database. If it does not, raise the limit
    /// of locked memory (<c>ulimit -l</c>).
    /// </summary>
    public bool IsDecryptedMemoryLocked { get; init; }

    /// <summary>
    /// The number of open snapshots, held by requests, cursors and backups. Each prevents the pages it uses from being reused.
    /// </summary>
    public int OpenSnapshots { get; init; }

    /// <summary>The statistics of the indexes.</summary>
    public required IReadOnlyList<IndexStatistics> Indexes { get; init; }

    internal static DatabaseStatistics Of(Database database)
    {
        long decryptedBytes = database.DecryptedBytes; // before the reads below decrypt pages
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
            OpenSnapshots = storage.OpenReaders - 1, // not counting the one of this method
            IsDecryptedMemoryLocked = storage.IsDecryptedMemoryLocked,
            Indexes = database.Indexes.List(),
        };
    }
}
