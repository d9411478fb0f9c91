namespace Treepie.Backups;

/// <summary>Kinds of things in a database.</summary>
[Flags]
public enum BackupContent
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>Documents with their metadata, change vectors and times; ranges of ids handed out are documents too.</summary>
    Documents = 1,

    /// <summary>Deletions that are still remembered.</summary>
    Tombstones = 2,

    /// <summary>Identities and their last numbers.</summary>
    Identities = 4,

    /// <summary>Definitions of indexes, which are built again from the documents.</summary>
    Indexes = 8,

    /// <summary>Compare-exchange values.</summary>
    CompareExchange = 16,

    /// <summary>Counters of documents.</summary>
    Counters = 32,

    /// <summary>Attachments of documents; only together with these.</summary>
    Attachments = 64,

    /// <summary>What is set of the database: expiration, refreshing, archival, revisions.</summary>
    Settings = 128,

    /// <summary>Revisions of documents, and of such that are deleted.</summary>
    RevisionDocuments = 256,

    /// <summary>Time series of documents.</summary>
    TimeSeries = 512,

    /// <summary>All there is.</summary>
    All = Documents | Tombstones | Identities | Indexes | CompareExchange | Counters | Attachments | Settings | RevisionDocuments
        | TimeSeries,
}
