namespace Treepie.Torture.Real;

/// <summary>What clients may see of a fault.</summary>
internal enum FaultOutcome
{
    /// <summary>Nothing: no operation fails.</summary>
    Nothing,

    /// <summary>Writes fail with <see cref="Storage.DiskFullException"/>, whole; reads and deletes go on.</summary>
    Full,

    /// <summary>
    /// Checkpoints fail. Writes go on until too much waits for one, and fail, whole, with
    /// <see cref="Storage.StorageException"/>; they never stop.
    /// </summary>
    NoCheckpoint,

    /// <summary>
    /// Writing stops, for good. What was under way fails with <see cref="Storage.CommitOutcomeUnknownException"/> or whole; what
    /// comes later with <see cref="Storage.WritingStoppedException"/>. Reads go on.
    /// </summary>
    Stop,

    /// <summary>Reads and writes that need a page which is not in memory fail, whole.</summary>
    Unreadable,
}
