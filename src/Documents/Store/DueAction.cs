namespace Treepie.Store;

/// <summary>
/// Actions on a document, or on a compare-exchange value, at a time given by its metadata or its time series. The values are
/// part of keys on disk and never change.
/// </summary>
internal enum DueAction : byte
{
    Expire = 1,
    Refresh = 2,
    Archive = 3,

    /// <summary>Rolls up its time series and deletes old entries.</summary>
    RollUp = 4,

    /// <summary>Deletes a compare-exchange value; its folded key stands for the id of a document.</summary>
    ExpireValue = 5,
}
