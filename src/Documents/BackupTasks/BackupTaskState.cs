namespace Treepie.BackupTasks;

/// <summary>What has become of a backup task so far: kept with it, so that a restart goes on where it was. Immutable.</summary>
public sealed record BackupTaskState
{
    /// <summary>When a full backup succeeded last (UTC).</summary>
    public DateTime? LastFull { get; init; }

    /// <summary>When changes were saved last, or there were none (UTC).</summary>
    public DateTime? LastIncremental { get; init; }

    /// <summary>When a full backup was begun last, however it ended: the next is due after that (UTC).</summary>
    public DateTime? LastFullAttempt { get; init; }

    /// <summary>The same of changes.</summary>
    public DateTime? LastIncrementalAttempt { get; init; }

    /// <summary>When the log was archived last, or nothing had been committed (UTC).</summary>
    public DateTime? LastLog { get; init; }

    /// <summary>When that was begun last (UTC).</summary>
    public DateTime? LastLogAttempt { get; init; }

    /// <summary>
    /// Why the log could not go on where it was, the last time that happened; the increment that was taken then has closed the
    /// gap.
    /// </summary>
    public string? LogGap { get; init; }

    /// <summary>When that was (UTC).</summary>
    public DateTime? LogGapAt { get; init; }

    /// <summary>Places at which all of the log is that followed the last snapshot or increment.</summary>
    public IReadOnlyList<string> LogAddresses { get; init; } = [];

    /// <summary>The newest moment that can be restored; null before the first backup.</summary>
    public RestorableMoment? Newest { get; init; }

    /// <summary>Etag up to which the last backup reaches.</summary>
    public long LastEtag { get; init; }

    /// <summary>
    /// Where the database stood when the last one was begun: as long as it stands there nothing has to be saved. Null in states
    /// of before there was one: then the next run takes what there is.
    /// </summary>
    public string? Mark { get; init; }

    /// <summary>
    /// A mark of the key that the chain is sealed with; null: it is not sealed. A chain ends where the key changes, so that one
    /// key opens all of it.
    /// </summary>
    public string? KeyMark { get; init; }

    /// <summary>How long the last one took.</summary>
    public long DurationMs { get; init; }

    /// <summary>What went wrong last; null where the last run succeeded.</summary>
    public string? Error { get; init; }

    /// <summary>When that was (UTC).</summary>
    public DateTime? ErrorAt { get; init; }

    /// <summary>What it was that went wrong: that is tried again.</summary>
    public BackupRunKind FailedRun { get; init; }

    /// <summary>Runs in a row that failed.</summary>
    public int Failures { get; init; }

    /// <summary>No run before that (UTC): because somebody asked for it, or because one failed.</summary>
    public DateTime? NotBefore { get; init; }

    /// <summary>Number of the operation of the last run, where there are such.</summary>
    public long OperationId { get; init; }

    /// <summary>How each place did the last time.</summary>
    public IReadOnlyList<BackupPlaceResult> Places { get; init; } = [];

    /// <summary>Backups that are kept, the oldest first.</summary>
    public IReadOnlyList<KeptBackup> Kept { get; init; } = [];

    /// <summary>
    /// Where the chain of the last backup stands, as <see cref="Backups.BackupLink"/> writes it; null where nothing can go on
    /// from it.
    /// </summary>
    public string? Link { get; init; }

    /// <summary>The latest backup that was read back and found to be what the database was; null before the first.</summary>
    public ProvenPoint? LastProven { get; init; }
}

/// <summary>How one place did in a run.</summary>
/// <param name="Address">The place.</param>
/// <param name="Object">Name of the object there.</param>
/// <param name="StoredBytes">Its length.</param>
/// <param name="Error">Why there is none, or why it is not proven; null where all is well.</param>
/// <param name="IsProven">Whether it was read back and compared.</param>
public sealed record BackupPlaceResult(string Address, string Object, long StoredBytes, string? Error, bool IsProven);

/// <summary>A backup that is kept at one or several places.</summary>
/// <param name="Object">Name of the object.</param>
/// <param name="TakenAt">When (UTC).</param>
/// <param name="LastEtag">Etag up to which it reaches.</param>
/// <param name="ContentHash">What it holds.</param>
/// <param name="StoredBytes">Its length.</param>
/// <param name="Addresses">Where it is.</param>
/// <param name="IsProven">Whether it was read back from one of them and compared.</param>
/// <param name="IsIncremental">Whether it goes on from the one before, without which it is worth nothing.</param>
public sealed record KeptBackup(
    string Object, DateTime TakenAt, long LastEtag, string? ContentHash, long StoredBytes, IReadOnlyList<string> Addresses,
    bool IsProven, bool IsIncremental = false);

/// <summary>A moment that can be restored.</summary>
/// <param name="At">The moment (UTC): nothing that was committed up to then is missing.</param>
/// <param name="Commit">The last commit; 0 where backups are no snapshots.</param>
/// <param name="LastEtag">Etag of the last change.</param>
/// <param name="Object">The backup that it is the end of.</param>
/// <param name="IsProven">Whether that was read back and found whole.</param>
public sealed record RestorableMoment(DateTime At, long Commit, long LastEtag, string Object, bool IsProven);

/// <summary>A stretch of the log that is kept at one or several places.</summary>
/// <param name="Object">Name of the object.</param>
/// <param name="Addresses">Where it is.</param>
public sealed record KeptLog(string Object, IReadOnlyList<string> Addresses);

/// <summary>A moment of a database that can be restored, as has been shown.</summary>
/// <param name="TakenAt">The moment (UTC).</param>
/// <param name="ProvenAt">When that was shown (UTC).</param>
/// <param name="LastEtag">Etag of the last change in it.</param>
/// <param name="Documents">Documents in it.</param>
/// <param name="ContentHash">Hash of all that is in it, as the database and the backup both have it; of a snapshot, that of its
/// pages.</param>
/// <param name="Address">Where the backup is.</param>
/// <param name="Object">Its name there.</param>
public sealed record ProvenPoint(
    DateTime TakenAt, DateTime ProvenAt, long LastEtag, long Documents, string ContentHash, string Address, string Object);
