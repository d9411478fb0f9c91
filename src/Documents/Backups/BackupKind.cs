namespace Treepie.Backups;

/// <summary>The kinds of backups.</summary>
public enum BackupKind
{
    /// <summary>
    /// Documents and other data as JSON, readable by other programs. Restored by writing each document. With
    /// <see cref="BackupOptions.Since"/>, an incremental backup, with only changed documents and tombstones. The default.
    /// </summary>
    Logical,

    /// <summary>
    /// The pages of one snapshot, including indexes, as they are in the data files: the fastest to create and to restore. With
    /// <see cref="BackupOptions.Since"/>, an incremental backup, with only the pages written since the previous one.
    /// </summary>
    Snapshot,

    /// <summary>
    /// Every commit since another backup, so that a restore can stop at any of them. Requires a database that archives its log
    /// (<c>Database.KeepLogAsync</c>).
    /// </summary>
    Log,
}
