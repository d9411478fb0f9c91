namespace Treepie.Store;

/// <summary>The kinds of related data. The values are part of keys on disk and never change.</summary>
internal enum Kind : byte
{
    CompareExchange = 1,
    Counter = 2,
    Attachment = 3,

    /// <summary>A revision of a document, which outlives it. Belongs to the database, with the document in its name.</summary>
    Revision = 4,

    /// <summary>A segment of a time series of a document.</summary>
    TimeSeries = 5,

    /// <summary>A setting of the database: JSON under a name.</summary>
    Setting = 6,
}
