namespace Treepie.Backups;

/// <summary>
/// How far a backup, restore, import or verification is. Reported now and then, from the thread that does the work.
/// </summary>
/// <param name="Step">What it is doing.</param>
/// <param name="Documents">Documents done in this step.</param>
/// <param name="DocumentsTotal">Documents to do in it; 0 where that is not known.</param>
/// <param name="JsonBytes">Bytes of JSON so far.</param>
/// <param name="StoredBytes">Bytes of the backup written or read so far, compressed and sealed.</param>
/// <param name="StoredBytesTotal">Bytes of the backup; 0 where that is not known.</param>
/// <param name="LastId">Id of the document done last; null before the first.</param>
public sealed record BackupProgress(
    BackupStep Step, long Documents, long DocumentsTotal, long JsonBytes, long StoredBytes, long StoredBytesTotal, string? LastId)
{
    /// <summary>Of a snapshot: pages done in this step.</summary>
    public long Pages { get; init; }

    /// <summary>Of a snapshot: pages to do in it; 0 where that is not known.</summary>
    public long PagesTotal { get; init; }
}

/// <summary>Steps of a backup, restore, import or verification.</summary>
public enum BackupStep
{
    /// <summary>A backup is being written.</summary>
    Writing,

    /// <summary>A backup is being read.</summary>
    Reading,

    /// <summary>What was restored is being compared with what the backup says.</summary>
    Comparing,
}
