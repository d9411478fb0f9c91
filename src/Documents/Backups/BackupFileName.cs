using System.Globalization;

namespace Treepie.Backups;

/// <summary>Names of files of backups, as RavenDB gives them: the time, then what it is.</summary>
public static class BackupFileName
{
    /// <summary>Of a logical backup.</summary>
    public const string Full = ".ravendb-full-backup";

    /// <summary>Of a sealed logical backup.</summary>
    public const string EncryptedFull = ".ravendb-encrypted-full-backup";

    /// <summary>Of a logical backup of what changed.</summary>
    public const string Incremental = ".ravendb-incremental-backup";

    /// <summary>Of a sealed logical backup of what changed.</summary>
    public const string EncryptedIncremental = ".ravendb-encrypted-incremental-backup";

    /// <summary>Of a snapshot.</summary>
    public const string Snapshot = ".ravendb-snapshot";

    /// <summary>Of a sealed snapshot.</summary>
    public const string EncryptedSnapshot = ".ravendb-encrypted-snapshot";

    /// <summary>Of the pages that came since a snapshot.</summary>
    public const string IncrementalSnapshot = ".ravendb-incremental-snapshot";

    /// <summary>Of the pages that came since a snapshot, sealed.</summary>
    public const string EncryptedIncrementalSnapshot = ".ravendb-encrypted-incremental-snapshot";

    /// <summary>Of a stretch of the log.</summary>
    public const string Log = ".ravendb-log";

    /// <summary>Of a stretch of the log, sealed.</summary>
    public const string EncryptedLog = ".ravendb-encrypted-log";

    /// <summary>The name of a backup that was begun at a moment; names are in the order of the moments.</summary>
    public static string For(BackupKind kind, bool isIncremental, bool isEncrypted, DateTime takenAt) =>
        takenAt.ToUniversalTime().ToString("yyyy-MM-dd-HH-mm-ss-fff", CultureInfo.InvariantCulture)
            + ExtensionOf(kind, isIncremental, isEncrypted);

    /// <summary>What follows the time.</summary>
    public static string ExtensionOf(BackupKind kind, bool isIncremental, bool isEncrypted) =>
        (kind, isIncremental, isEncrypted) switch
        {
            (BackupKind.Logical, false, false) => Full,
            (BackupKind.Logical, false, true) => EncryptedFull,
            (BackupKind.Logical, true, false) => Incremental,
            (BackupKind.Logical, true, true) => EncryptedIncremental,
            (BackupKind.Snapshot, false, false) => Snapshot,
            (BackupKind.Snapshot, false, true) => EncryptedSnapshot,
            (BackupKind.Snapshot, true, false) => IncrementalSnapshot,
            (BackupKind.Snapshot, true, true) => EncryptedIncrementalSnapshot,
            (BackupKind.Log, _, false) => Log,
            (BackupKind.Log, _, true) => EncryptedLog,
            _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "There is no such kind of backup."),
        };
}
