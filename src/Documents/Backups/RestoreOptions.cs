using Treepie.Storage;

namespace Treepie.Backups;

/// <summary>How to restore or verify a backup. Immutable.</summary>
public sealed record RestoreOptions
{
    /// <summary>
    /// The key the backup was sealed with; null for a plain one. Whether the restored database is encrypted is a setting of
    /// <see cref="Database"/>.
    /// </summary>
    public EncryptionKey? BackupKey { get; init; }

    /// <summary>
    /// Settings and limits of the restored database; its limits bound what is read of the backup. Null: those of the catalog, or
    /// the defaults.
    /// </summary>
    public DatabaseOptions? Database { get; init; }

    /// <summary>
    /// Leaves documents out that are none or are over a limit, and lists them in the report, instead of failing. Default false.
    /// Never of a backup of this program, whose counts would not fit.
    /// </summary>
    public bool SkipInvalidDocuments { get; init; }

    /// <summary>
    /// Restores a sealed backup to a database that is not encrypted: everybody who has its files can then read what the seal
    /// protected. Default false: that is refused.
    /// </summary>
    public bool AllowPlain { get; init; }

    /// <summary>
    /// Of snapshots with logs: the last commit that is to be made again; the restore lands on the newest one up to it. Null: all
    /// there are.
    /// </summary>
    public long? StopAtCommit { get; init; }

    /// <summary>Of snapshots with logs: the time (UTC) after which no commit is made again. Null: all there are.</summary>
    public DateTime? StopAtTime { get; init; }

    /// <summary>Of a verification: that a stretch of the log is to be proven by itself, without what it goes on from.</summary>
    internal bool IsLogAlone { get; init; }

    /// <summary>Whether what is read becomes a database, and is not only verified.</summary>
    internal bool IsRestore { get; init; }

    /// <summary>Whether the work has a thread of its own (<see cref="WorkThread"/>), which waits for what is read.</summary>
    internal bool IsOnThread { get; init; }

    /// <summary>Opens a part: on the calling thread, where the work has one of its own.</summary>
    internal ValueTask<Stream> OpenAsync(BackupPart part, CancellationToken cancellationToken)
    {
        ValueTask<Stream> stream = part.OpenAsync(cancellationToken);
        return IsOnThread ? ValueTask.FromResult(BlockingStream.Wait(stream)) : stream;
    }

    /// <summary>
    /// Of a verification: lets those go first who write to the database that it is a backup of; null: never rests.
    /// </summary>
    internal BackupPace? Pace { get; init; }

    /// <summary>
    /// A key that is tried where the backup is sealed and no <see cref="BackupKey"/> is given: that of the database itself.
    /// </summary>
    internal EncryptionKey? OwnKey { get; init; }

    /// <summary>
    /// Longest data file of the restored database, for tests of what happens when there is no room; null: as always.
    /// </summary>
    internal long? MaxDataFileBytes { get; init; }

    /// <summary>The same, for a backup that was sealed with a key.</summary>
    public RestoreOptions OpenedWith(BackupKey key)
    {
        ArgumentNullException.ThrowIfNull(key);
        return this with { BackupKey = key.Key };
    }
}
