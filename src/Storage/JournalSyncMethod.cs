namespace Treepie.Storage;

/// <summary>How journal frames are made durable.</summary>
public enum JournalSyncMethod
{
    /// <summary>Not chosen yet: it is chosen before the first durable commit.</summary>
    NotChosen,

    /// <summary>
    /// Written through the system's cache, then synced (fdatasync; F_FULLFSYNC on macOS; write-through on Windows).
    /// </summary>
    Cached,

    /// <summary>
    /// Written bypassing the cache, durable when the write returns (O_DIRECT|O_DSYNC), because that was measured to be faster
    /// here.
    /// </summary>
    Direct,
}
