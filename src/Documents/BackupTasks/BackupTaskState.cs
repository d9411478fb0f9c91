namespace Treepie.BackupTasks;

/// <summary>The state of a backup task, stored with it so that it survives restarts. Immutable.</summary>
public sealed record BackupTaskState
{
    /// <summary>When the last successful full backup was taken (UTC).</summary>
    public DateTime? LastFull { get; init; }

    /// <summary>When the last successful incremental run ended, even if nothing had changed (UTC).</summary>
    public DateTime? LastIncremental { get; init; }

    /// <summary>When the last full backup was started, successful or not (UTC); the next is scheduled after it.</summary>
    public DateTime? LastFullAttempt { get; init; }

    /// <summary>When the last incremental backup was started, successful or not (UTC).</summary>
    public DateTime? LastIncrementalAttempt { get; init; }

    /// <summary>When the last successful log backup ended, even if nothing had been committed (UTC).</summary>
    public DateTime? LastLog { get; init; }

    /// <summary>When the last log backup was started (UTC).</summary>
    public DateTime? LastLogAttempt { get; init; }

    /// <summary>
    /// The cause of the last gap in the log, which was closed by an increment.
    /// </summary>
    public string? LogGap { get; init; }

    /// <summary>When that gap occurred (UTC).</summary>
    public DateTime? LogGapAt { get; init; }

    /// <summary>The destinations that have the complete log since the last snapshot or increment.</summary>
    public IReadOnlyList<string> LogAddresses { get; init; } = [];

    /// <summary>The newest state that can be restored; null before the first backup.</summary>
    public RestorableMoment? Newest { get; init; }

    /// <summary>The last etag in the last backup.</summary>
    public long LastEtag { get; init; }

    /// <summary>
    /// The position of the database when the last backup was started: while it is unchanged, there is nothing to back up. Null in
    /// states written by versions without it; the next run then takes a backup.
    /// </summary>
    public string? Mark { get; init; }

    /// <summary>
    /// A fingerprint of the key that encrypts the chain. Null: the chain is not encrypted. A new chain is started when the key
    /// changes, so that one key decrypts all of a chain.
    /// </summary>
    public string? KeyMark { get; init; }

    /// <summary>The duration of the last run in milliseconds.</summary>
    public long DurationMs { get; init; }

    /// <summary>The error of the last run; null if it succeeded.</summary>
    public string? Error { get; init; }

    /// <summary>When that error occurred (UTC).</summary>
    public DateTime? ErrorAt { get; init; }

    /// <summary>The kind of the run that failed, which will be retried.</summary>
    public BackupRunKind FailedRun { get; init; }

    /// <summary>The number of consecutive runs that failed.</summary>
    public int Failures { get; init; }

    /// <summary>The time before which nothing is run (UTC), because of a delay or a failed run.</summary>
    public DateTime? NotBefore { get; init; }

    /// <summary>The id of the operation of the last run, in programs that have operations.</summary>
    public long OperationId { get; init; }

    /// <summary>The result at each destination in the last run.</summary>
    public IReadOnlyList<BackupPlaceResult> Places { get; init; } = [];

    /// <summary>The backups that are kept, oldest first.</summary>
    public IReadOnlyList<KeptBackup> Kept { get; init; } = [];

    /// <summary>
    /// The link from which the next increment continues, as written by <see cref="Backups.BackupLink"/>; null if none can.
    /// </summary>
    public string? Link { get; init; }

    /// <summary>The latest backup that was verified against the database; null before the first.</summary>
    public ProvenPoint? LastProven { get; init; }

    /// <summary>
    /// Returns the state without times that are yet to come: they were stored while the clock was ahead, and nothing would be due
    /// until then. What depends on them is due at once.
    /// </summary>
    internal BackupTaskState AsOf(DateTime now)
    {
        bool wasAhead = IsAhead(LastFullAttempt) || IsAhead(LastIncrementalAttempt) || IsAhead(LastLogAttempt)
            || IsAhead(ErrorAt);
        return this with
        {
            LastFull = Known(LastFull),
            LastIncremental = Known(LastIncremental),
            LastFullAttempt = Known(LastFullAttempt),
            LastIncrementalAttempt = Known(LastIncrementalAttempt),
            LastLog = Known(LastLog),
            LastLogAttempt = Known(LastLogAttempt),
            ErrorAt = Known(ErrorAt),
            NotBefore = wasAhead ? null : NotBefore,
            Newest = IsAhead(Newest?.At) ? null : Newest,
            LastProven = IsAhead(LastProven?.TakenAt) ? null : LastProven,
        };

        bool IsAhead(DateTime? time) => time is { } at && BackupTiming.IsAhead(at, now);

        DateTime? Known(DateTime? time) => IsAhead(time) ? null : time;
    }
}

/// <summary>The result of a run at one destination.</summary>
/// <param name="Address">The address of the destination.</param>
/// <param name="Object">The name of the object.</param>
/// <param name="StoredBytes">The size of the object in bytes.</param>
/// <param name="Error">Why it was not written or not verified; null if there was no error.</param>
/// <param name="IsProven">Whether it was read back and verified.</param>
public sealed record BackupPlaceResult(string Address, string Object, long StoredBytes, string? Error, bool IsProven);

/// <summary>A backup kept at one or more destinations.</summary>
/// <param name="Object">The name of the object.</param>
/// <param name="TakenAt">When it was taken (UTC).</param>
/// <param name="LastEtag">The last etag in it.</param>
/// <param name="ContentHash">The hash of its contents.</param>
/// <param name="StoredBytes">The size in bytes.</param>
/// <param name="Addresses">The addresses of the destinations.</param>
/// <param name="IsProven">Whether it was read back from one of them and verified.</param>
/// <param name="IsIncremental">Whether it continues the previous backup and cannot be restored without it.</param>
public sealed record KeptBackup(
    string Object, DateTime TakenAt, long LastEtag, string? ContentHash, long StoredBytes, IReadOnlyList<string> Addresses,
    bool IsProven, bool IsIncremental = false)
{
    /// <summary>The addresses of the destinations to which it was written but where verification failed.</summary>
    public IReadOnlyList<string> Unproven { get; init => field = value ?? []; } = []; // older states have none
}

/// <summary>A state that can be restored.</summary>
/// <param name="At">The time of the state (UTC): it includes everything committed up to then.</param>
/// <param name="Commit">The last commit; 0 if the backups are not snapshots.</param>
/// <param name="LastEtag">The etag of the last change.</param>
/// <param name="Object">The name of the backup that ends with this state.</param>
/// <param name="IsProven">Whether that backup was read back and verified.</param>
public sealed record RestorableMoment(DateTime At, long Commit, long LastEtag, string Object, bool IsProven);

/// <summary>A log backup kept at one or more destinations.</summary>
/// <param name="Object">The name of the object.</param>
/// <param name="Addresses">The addresses of the destinations.</param>
public sealed record KeptLog(string Object, IReadOnlyList<string> Addresses);

/// <summary>A state of a database that was verified to be restorable.</summary>
/// <param name="TakenAt">The time of the state (UTC).</param>
/// <param name="ProvenAt">When it was verified (UTC).</param>
/// <param name="LastEtag">The etag of the last change in it.</param>
/// <param name="Documents">The number of documents in it.</param>
/// <param name="ContentHash">The hash of the contents, equal for the database and the backup; for a snapshot, the hash of its
/// pages.</param>
/// <param name="Address">The address of the destination.</param>
/// <param name="Object">The name of the backup there.</param>
public sealed record ProvenPoint(
    DateTime TakenAt, DateTime ProvenAt, long LastEtag, long Documents, string ContentHash, string Address, string Object);
