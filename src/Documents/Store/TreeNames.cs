using System.Buffers.Binary;

namespace Treepie.Store;

/// <summary>
/// The layout of a database in the trees of its environment. Numbers in keys are big-endian, so that keys sort by them.
/// <code>
/// TREE                      KEY                              VALUE
/// documents                 folded id                        DocumentRecord
/// documents/by-etag         etag 8                           folded id
/// documents/by-collection   collection 4, etag 8             folded id
/// tombstones/by-etag        etag 8                           TombstoneRecord
/// tombstones/by-collection  collection 4, etag 8             nothing
/// tombstones/by-id          folded id, 00, collection 4      etag 8 (little-endian)
/// collections               collection 4                     CollectionRecord
/// collections/by-name       folded name                      collection 4 (little-endian)
/// identities                folded name with its |           IdentityRecord
/// indexes                   directory of an index            its definition, JSON; in encrypted databases only
/// indexes/static            folded name of an index          its definition, JSON; created by the first user-defined index
/// indexes/history           folded name of an index          its last definitions, JSON; created with indexes/static
/// indexes/settings          folded name of an index          its settings, JSON; created by the first
/// backup-tasks              number 8                         BackupTaskRecord, JSON; created by the first
/// backup-logs               number of the task 8, name       KeptLog, JSON; created by the first
/// kinds                     KindKey                          KindRecord; this and the next three are created by the first
/// kinds/by-etag             etag 8                           KindKey of an item
/// kinds/deleted             etag 8                           KindKey of a deleted item
/// kinds/counts              kind 1 (plus 128: deleted)       number of items 8 (little-endian)
/// contents                  number 8, position 4             a chunk of the content of an attachment
/// contents/by-hash          SHA-256 32                       ContentRecord
/// contents/uploads          number 8                         nothing: an incomplete content
/// due                       see DueIndex                     see DueIndex; created by the first entry
/// dictionaries              number 4                         dictionary of compressed bodies; created by the first,
///                                                            like the next two
/// dictionaries/copies       number 4                         a second copy
/// packing                   collection 4                     PackingRecord: the progress of compressing a collection
/// meta                      "database"                       format 4, id of the database 16
/// meta                      "etag"                           last etag 8 (little-endian)
/// meta                      "purged"                         last etag up to which tombstones were purged 8 (little-endian)
/// meta                      "forgotten"                      latest time of a document's deletion of which the tombstone is
///                                                            gone, UTC ticks 8 (little-endian)
/// meta                      "content"                        last number assigned to a content 8 (little-endian)
/// meta                      "log"                            maximum size of the archived log in bytes 8 (little-endian)
/// </code>
/// Invariants: (1) a document is in both logs under its etag and nowhere else there; (2) an id has at most one tombstone for each
/// collection, and none for the collection it is in now; (3) of an id's document and tombstones, all but the last are superseded
/// or gone; (4) an item of related data is once in the log of items, or once in that of deletions, under its etag; (5) the
/// related data of a document exists only as long as the document, whose record has the flag of a kind if and only if it has data
/// of that kind; (6) a content has as many references as there are attachments with its hash, of documents and of revisions;
/// (7) the index of times has an entry for each time in the metadata of a document, if the scan has passed that document.
/// </summary>
internal static class TreeNames
{
    public const string Documents = "documents";
    public const string DocumentsByEtag = "documents/by-etag";
    public const string DocumentsByCollection = "documents/by-collection";
    public const string TombstonesByEtag = "tombstones/by-etag";
    public const string TombstonesByCollection = "tombstones/by-collection";
    public const string TombstonesById = "tombstones/by-id";
    public const string Collections = "collections";
    public const string CollectionsByName = "collections/by-name";
    public const string Identities = "identities";
    public const string Meta = "meta";

    /// <summary>Related data.</summary>
    public const string Kinds = "kinds";

    /// <summary>The log of related data.</summary>
    public const string KindsByEtag = "kinds/by-etag";

    /// <summary>Tombstones of related data.</summary>
    public const string KindsDeleted = "kinds/deleted";

    /// <summary>The number of items of each kind.</summary>
    public const string KindCounts = "kinds/counts";

    /// <summary>Created by the first index of an encrypted database; others keep a file beside each index.</summary>
    public const string IndexDefinitions = "indexes";

    /// <summary>Definitions of static indexes; created by the first.</summary>
    public const string StaticIndexes = "indexes/static";

    /// <summary>Earlier definitions of static indexes; created together with them.</summary>
    public const string IndexHistory = "indexes/history";

    /// <summary>Settings of indexes; created by the first.</summary>
    public const string IndexSettings = "indexes/settings";

    /// <summary>Backup tasks; created by the first.</summary>
    public const string BackupTasks = "backup-tasks";

    /// <summary>
    /// Log backups kept by backup tasks at their destinations: id of the task (8, big-endian), name of the object; created by the
    /// first.
    /// </summary>
    public const string BackupLogs = "backup-logs";

    /// <summary>Chunks of attachment contents; this and the next two are created by the first.</summary>
    public const string Contents = "contents";

    /// <summary>Contents by hash.</summary>
    public const string ContentsByHash = "contents/by-hash";

    /// <summary>Incomplete contents, by number.</summary>
    public const string ContentUploads = "contents/uploads";

    /// <summary>Documents by the time at which they are due for an action.</summary>
    public const string Due = "due";

    /// <summary>Compression dictionaries of bodies.</summary>
    public const string Dictionaries = "dictionaries";

    /// <summary>A second copy: losing one would make all its bodies unreadable.</summary>
    public const string DictionaryCopies = "dictionaries/copies";

    /// <summary>The progress of compressing each collection.</summary>
    public const string Packing = "packing";

    /// <summary>The version of this layout.</summary>
    public const int FormatVersion = 1;

    /// <summary>The version of a database in which bodies may be compressed.</summary>
    public const int PackedFormatVersion = 2;

    /// <summary>The length of a key in the log of a collection.</summary>
    public const int CollectionKeyBytes = 12;

    /// <summary>The length of a key in a log.</summary>
    public const int EtagKeyBytes = 8;

    public static readonly IReadOnlyList<string> All =
    [
        Documents, DocumentsByEtag, DocumentsByCollection, TombstonesByEtag, TombstonesByCollection, TombstonesById, Collections,
        CollectionsByName,
        Identities, Meta,
    ];

    public static ReadOnlySpan<byte> MetaDatabase => "database"u8;

    public static ReadOnlySpan<byte> MetaEtag => "etag"u8;

    /// <summary>The etag up to which tombstones were purged; absent if none were.</summary>
    public static ReadOnlySpan<byte> MetaPurged => "purged"u8;

    /// <summary>The latest time (UTC ticks) of the deletion of a document that is no longer known; absent if all are.</summary>
    public static ReadOnlySpan<byte> MetaForgotten => "forgotten"u8;

    /// <summary>The last number assigned to a content; absent if there was none.</summary>
    public static ReadOnlySpan<byte> MetaContent => "content"u8;

    /// <summary>The maximum size of the archived log in bytes; absent if it is not archived.</summary>
    public static ReadOnlySpan<byte> MetaLogBudget => "log"u8;

    public static void WriteEtagKey(Span<byte> key, long etag) => BinaryPrimitives.WriteInt64BigEndian(key, etag);

    public static void WriteCollectionKey(Span<byte> key, int collectionId, long etag)
    {
        BinaryPrimitives.WriteInt32BigEndian(key, collectionId);
        BinaryPrimitives.WriteInt64BigEndian(key[4..], etag);
    }

    public static long EtagOfKey(ReadOnlySpan<byte> key) => BinaryPrimitives.ReadInt64BigEndian(key[^EtagKeyBytes..]);
}
