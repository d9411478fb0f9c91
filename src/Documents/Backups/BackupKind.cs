namespace Treepie.Backups;

/// <summary>What a backup is made of.</summary>
public enum BackupKind
{
    /// <summary>
    /// Documents and the rest as JSON, readable everywhere. Restored by writing each document. With
    /// <see cref="BackupOptions.Since"/> an increment: only documents that changed, and deletions. The default.
    /// </summary>
    Logical,

    /// <summary>
    /// The pages of one snapshot, indexes included, as they lie in the data files: the fastest to take and to restore. With
    /// <see cref="BackupOptions.Since"/> an increment: only the pages that came since the backup before.
    /// </summary>
    Snapshot,

    /// <summary>
    /// Every commit since another backup, so that a restore can stop at any of them. Needs a database that keeps its log
    /// (<c>Database.KeepLogAsync</c>).
    /// </summary>
    Log,
}
