using Treepie.Storage;

namespace Treepie.Backups;

/// <summary>Options for restoring or verifying a backup. Immutable.</summary>
public sealed record RestoreOptions
{
    /// <summary>
    /// The key with which the backup was encrypted; null for an unencrypted one. Whether the restored database is encrypted is
    /// determined by <see cref="Database"/>.
    /// </summary>
    public EncryptionKey? BackupKey { get; init; }

    /// <summary>
    /// The options of the restored database; its limits apply to what is read from the backup. Null: those of the catalogue, or
    /// the defaults.
    /// </summary>
    public DatabaseOptions? Database { get; init; }

    /// <summary>
    /// Skips documents that are invalid or exceed a limit, and lists them in the report, instead of failing. Default: false. Not
    /// supported for backups made by this program, whose counts would no longer match.
    /// </summary>
    public bool SkipInvalidDocuments { get; init; }

    /// <summary>
    /// Allows restoring an encrypted backup to an unencrypted database; everyone with access to its files can then read the data.
    /// Default: false.
    /// </summary>
    public bool AllowPlain { get; init; }

    /// <summary>
    /// For snapshots with logs: the last commit to replay; the restore stops at the newest commit up to it. Null: replays all.
    /// </summary>
    public long? StopAtCommit { get; init; }

    /// <summary>For snapshots with logs: the time (UTC) after which no commit is replayed. Null: replays all.</summary>
    public DateTime? StopAtTime { get; init; }

    /// <summary>For verification: whether a log backup is verified by itself, without the parts that it continues.</summary>
    internal bool IsLogAlone { get; init; }

    /// <summary>Whether the data is restored to a database, not only verified.</summary>
    internal bool IsRestore { get; init; }

    /// <summary>Whether the work has a thread of its own (<see cref="WorkThread"/>), which blocks on reads.</summary>
    internal bool IsOnThread { get; init; }

    /// <summary>Opens a part; on the calling thread if the work has one of its own.</summary>
    internal ValueTask<Stream> OpenAsync(BackupPart part, CancellationToken cancellationToken)
    {
        ValueTask<Stream> stream = part.OpenAsync(cancellationToken);
        return IsOnThread ? ValueTask.FromResult(BlockingStream.Wait(stream)) : stream;
    }

    /// <summary>
    /// For verification: yields to writers of the source database; null: never pauses.
    /// </summary>
    internal BackupPace? Pace { get; init; }

    /// <summary>
    /// The key of the database itself, which is tried if the backup is encrypted and no <see cref="BackupKey"/> is given.
    /// </summary>
    internal EncryptionKey? OwnKey { get; init; }

    /// <summary>
    /// The maximum size of the restored data file, for tests of a full disk; null: the default.
    /// </summary>
    internal long? MaxDataFileBytes { get; init; }

    /// <summary>Returns a copy with the key with which the backup was encrypted.</summary>
    public RestoreOptions OpenedWith(BackupKey key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return this with { BackupKey = key.Key };
    }
}
