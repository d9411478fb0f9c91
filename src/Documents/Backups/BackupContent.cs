namespace Treepie.Backups;

/// <summary>The kinds of data in a database.</summary>
[Flags]
public enum BackupContent
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>Documents with their metadata, change vectors and times, including the documents of HiLo id ranges.</summary>
    Documents = 1,

    /// <summary>Tombstones of deleted documents.</summary>
    Tombstones = 2,

    /// <summary>Identities with their last values.</summary>
    Identities = 4,

    /// <summary>Index definitions; indexes are rebuilt from the documents.</summary>
    Indexes = 8,

    /// <summary>Compare-exchange values.</summary>
    CompareExchange = 16,

    /// <summary>Counters of documents.</summary>
    Counters = 32,

    /// <summary>Attachments of documents; only together with the documents.</summary>
    Attachments = 64,

    /// <summary>Settings of the database: expiration, refresh, archival, revisions.</summary>
    Settings = 128,

    /// <summary>Revisions of documents, including deleted ones.</summary>
    RevisionDocuments = 256,

    /// <summary>Time series of documents.</summary>
    TimeSeries = 512,

    /// <summary>All kinds of data.</summary>
    All = Documents | Tombstones | Identities | Indexes | CompareExchange | Counters | Attachments | Settings | RevisionDocuments
        | TimeSeries,
}
