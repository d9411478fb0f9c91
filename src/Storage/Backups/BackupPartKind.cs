namespace Treepie.Storage.Backups;

/// <summary>Kinds of parts.</summary>
public enum BackupPartKind
{
    /// <summary>All pages of a state.</summary>
    Snapshot = 1,

    /// <summary>The pages that came since another part.</summary>
    Increment = 2,

    /// <summary>Commits, one after the other.</summary>
    Log = 3,
}
