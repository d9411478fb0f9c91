namespace Treepie.Store;

/// <summary>What lies beside the bodies of documents. The number is part of keys on disk and never changes.</summary>
internal enum Kind : byte
{
    CompareExchange = 1,
    Counter = 2,
    Attachment = 3,

    /// <summary>A state that a document had; outlives it. Belongs to the database, with the document in its name.</summary>
    Revision = 4,

    /// <summary>A segment of a time series of a document.</summary>
    TimeSeries = 5,

    /// <summary>What is set of the database: of it as a whole, JSON under a name.</summary>
    Setting = 6,
}
