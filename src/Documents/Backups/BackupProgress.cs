namespace Treepie.Backups;

/// <summary>
/// The progress of a backup, restore, import or verification. Reported periodically, on the thread that does the work.
/// </summary>
/// <param name="Step">The current step.</param>
/// <param name="Documents">The number of documents processed in this step.</param>
/// <param name="DocumentsTotal">The number of documents of this step; 0 if unknown.</param>
/// <param name="JsonBytes">The number of bytes of JSON processed so far.</param>
/// <param name="StoredBytes">The number of bytes of the backup written or read so far, compressed and encrypted.</param>
/// <param name="StoredBytesTotal">The size of the backup in bytes; 0 if unknown.</param>
/// <param name="LastId">The id of the last document processed; null before the first.</param>
public sealed record BackupProgress(
    BackupStep Step, long Documents, long DocumentsTotal, long JsonBytes, long StoredBytes, long StoredBytesTotal, string? LastId)
{
    /// <summary>For snapshots: the number of pages processed in this step.</summary>
    public long Pages { get; init; }

    /// <summary>For snapshots: the number of pages of this step; 0 if unknown.</summary>
    public long PagesTotal { get; init; }

    /// <summary>For logical backups: the number of items taken and skipped so far in each non-empty section.</summary>
    public IReadOnlyList<BackupSection> Sections { get; init; } = [];
}

/// <summary>The steps of a backup, restore, import or verification.</summary>
public enum BackupStep
{
    /// <summary>Writing a backup.</summary>
    Writing,

    /// <summary>Reading a backup.</summary>
    Reading,

    /// <summary>Comparing what was restored with the backup's own figures.</summary>
    Comparing,
}
