namespace Treepie.Store;

/// <summary>
/// What is done with a document at a time, which its metadata or its time series give. The number is part of keys on disk and
/// never changes.
/// </summary>
internal enum DueAction : byte
{
    Expire = 1,
    Refresh = 2,
    Archive = 3,

    /// <summary>Its time series are rolled up, and old entries go.</summary>
    RollUp = 4,
}
