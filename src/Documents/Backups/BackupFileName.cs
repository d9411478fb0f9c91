using System.Globalization;

namespace Treepie.Backups;

/// <summary>The names of backup files, as in RavenDB: a timestamp followed by an extension for the kind of backup.</summary>
public static class BackupFileName
{
    /// <summary>The extension of a logical backup.</summary>
    public const string Full = ".ravendb-full-backup";

    /// <summary>The extension of an encrypted logical backup.</summary>
    public const string EncryptedFull = ".ravendb-encrypted-full-backup";

    /// <summary>The extension of an incremental logical backup.</summary>
    public const string Incremental = ".ravendb-incremental-backup";

    /// <summary>The extension of an encrypted incremental logical backup.</summary>
    public const string EncryptedIncremental = ".ravendb-encrypted-incremental-backup";

    /// <summary>The extension of a snapshot.</summary>
    public const string Snapshot = ".ravendb-snapshot";

    /// <summary>The extension of an encrypted snapshot.</summary>
    public const string EncryptedSnapshot = ".ravendb-encrypted-snapshot";

    /// <summary>The extension of an incremental snapshot, with the pages written since the previous one.</summary>
    public const string IncrementalSnapshot = ".ravendb-incremental-snapshot";

    /// <summary>The extension of an encrypted incremental snapshot.</summary>
    public const string EncryptedIncrementalSnapshot = ".ravendb-encrypted-incremental-snapshot";

    /// <summary>The extension of a log backup.</summary>
    public const string Log = ".ravendb-log";

    /// <summary>The extension of an encrypted log backup.</summary>
    public const string EncryptedLog = ".ravendb-encrypted-log";

    /// <summary>Returns the file name of a backup started at a point in time. Names sort by time.</summary>
    public static string For(BackupKind kind, bool isIncremental, bool isEncrypted, DateTime takenAt) =>
        takenAt.ToUniversalTime().ToString("yyyy-MM-dd-HH-mm-ss-fff", CultureInfo.InvariantCulture)
            + ExtensionOf(kind, isIncremental, isEncrypted);

    /// <summary>Returns the extension for a kind of backup.</summary>
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
