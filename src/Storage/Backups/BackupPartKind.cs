namespace Treepie.Storage.Backups;

/// <summary>The kinds of backup parts.</summary>
public enum BackupPartKind
{
    /// <summary>All pages of a state.</summary>
    Snapshot = 1,

    /// <summary>The pages written since another part.</summary>
    Increment = 2,

    /// <summary>Consecutive commits.</summary>
    Log = 3,
}
