using Treepie.Storage;

namespace Treepie.Backups;

/// <summary>Options of a backup. Immutable.</summary>
public sealed record BackupOptions
{
    /// <summary>The kind of backup. Default: <see cref="BackupKind.Logical"/>.</summary>
    public BackupKind Kind { get; init; }

    /// <summary>
    /// The <see cref="BackupReport.Link"/> of the previous backup, from which this one continues: makes a logical backup or a
    /// snapshot incremental; required for a log backup. Null: a backup that does not depend on another.
    /// </summary>
    public BackupLink? Since { get; init; }

    /// <summary>
    /// The name of this reader of the log. Several readers can back up the log independently: each has its own position,
    /// initially that of <see cref="Since"/>, and commits are kept until all readers have read them. Positions last until the
    /// database is closed; those of backup tasks, which are separate, are permanent. Default: the empty name.
    /// </summary>
    public string LogReader { get; init; } = "";

    /// <summary>Whether a task takes the backup, whose position is in its state.</summary>
    internal bool IsOfTask { get; init; }

    /// <summary>
    /// For snapshots: also reads all documents and stores their content hash, the same as that of a logical backup of the state;
    /// a restore verifies it. Costs as much as reading all documents, even for a small increment. Default: false. A logical
    /// backup always contains it.
    /// </summary>
    public bool HashesContent { get; init; }

    /// <summary>The compression. Default: <see cref="BackupCompression.ZstdFastest"/>.</summary>
    public BackupCompression Compression { get; init; }

    /// <summary>
    /// The key that encrypts the backup, whether the database is encrypted or not. Null: a plain database is backed up
    /// unencrypted. An encrypted database does not hold its key and cannot be backed up then, except through its catalogue
    /// (<see cref="DatabaseCatalog.BackupAsync"/>), which encrypts the backup with the key of the database. Without the key, the
    /// backup cannot be restored.
    /// </summary>
    public EncryptionKey? EncryptionKey { get; init; }

    /// <summary>Whether a key is set; for programs that do not use the storage library directly.</summary>
    public bool HasKey => EncryptionKey is not null;

    /// <summary>
    /// Allows an unencrypted backup of an encrypted database; everyone with access to the file can read it. Default: false.
    /// </summary>
    public bool AllowPlain { get; init; }

    /// <summary>The kinds of data to back up. Default: all.</summary>
    public BackupContent Content { get; init; } = BackupContent.All;

    /// <summary>The collections (case-insensitive) whose documents and tombstones are backed up. Null: all.</summary>
    public IReadOnlyList<string>? Collections { get; init; }

    /// <summary>
    /// The documents to leave out, with their attachments, counters, time series and revisions. Default: none.
    /// </summary>
    public LeftOutDocuments LeftOut { get; init; }

    /// <summary>
    /// A script that changes or drops documents as they are written. It does not change revisions. Null: documents are written as
    /// they are.
    /// </summary>
    public DocumentTransform? Transform { get; init; }

    /// <summary>
    /// The members of the database record that are left out, by their names in it, such as <c>Expiration</c>, or those of
    /// settings of programs (<see cref="Database.Settings"/>). Default: none.
    /// </summary>
    public IReadOnlyList<string> LeftOutSettings { get; init; } = [];

    /// <summary>
    /// Whether index definitions are written without the analyzers that they name, for a database that does not have these: their
    /// full-text fields then have the default analyzer. Default: false.
    /// </summary>
    public bool RemoveAnalyzers { get; init; }

    /// <summary>Whether nothing is left out or changed.</summary>
    internal bool HoldsAll => this is
    {
        Content: BackupContent.All,
        Collections: null or { Count: 0 },
        LeftOut: LeftOutDocuments.None,
        Transform: null,
        LeftOutSettings.Count: 0,
        RemoveAnalyzers: false,
    };

    /// <summary>
    /// The percentage of time, from 5 to 100, during which the backup runs while there are concurrent commits; it pauses for the
    /// rest. Without concurrent commits it does not pause, and it always finishes: at 20, it takes at most five times as long,
    /// during which its snapshot stays in use. Default: 100, without pauses; for backup tasks 12
    /// (<see cref="BackupTasks.BackupTask.PercentWhileWriting"/>).
    /// </summary>
    public int PercentWhileWriting { get; init; } = BackupPace.Full;

    /// <summary>Returns a copy that encrypts the backup with a key.</summary>
    public BackupOptions SealedWith(BackupKey key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return this with { EncryptionKey = key.Key };
    }
}
