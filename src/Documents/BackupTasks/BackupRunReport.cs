using Treepie.Backups;

namespace Treepie.BackupTasks;

/// <summary>The result of a run of a backup task.</summary>
public sealed record BackupRunReport
{
    /// <summary>The report of the backup; null if none was written because nothing had changed.</summary>
    public BackupReport? Report { get; init; }

    /// <summary>The name of the backup at the destinations; empty if none was written.</summary>
    public string Object { get; init; } = "";

    /// <summary>The result at each destination.</summary>
    public IReadOnlyList<BackupPlaceResult> Places { get; init; } = [];

    /// <summary>The state that was verified to be restorable; null if verification was not requested or failed.</summary>
    public ProvenPoint? Proven { get; init; }

    /// <summary>The destinations to which the backup was written but where verification failed.</summary>
    public IReadOnlyList<string> Unproven { get; init; } = [];

    /// <summary>The backups kept after the run, oldest first.</summary>
    public IReadOnlyList<KeptBackup> Kept { get; init; } = [];

    /// <summary>The backups deleted by the retention policy.</summary>
    public IReadOnlyList<string> Deleted { get; init; } = [];

    /// <summary>The kind of the run.</summary>
    public BackupRunKind Kind { get; init; }

    /// <summary>Why a log backup was not possible and an increment was taken instead; null otherwise.</summary>
    public string? LogGap { get; init; }

    /// <summary>The destinations that have the complete log since the last snapshot or increment.</summary>
    public IReadOnlyList<string> LogAddresses { get; init; } = [];

    /// <summary>The log backup that was written; null for other kinds.</summary>
    public KeptLog? Log { get; init; }

    /// <summary>The newest state that can be restored; null if nothing was written.</summary>
    public RestorableMoment? Newest { get; init; }

    /// <summary>The link from which the next increment continues; null if none can.</summary>
    public string? Link { get; init; }

    /// <summary>The position of the database when the backup was started; null if none was written.</summary>
    internal string? Mark { get; init; }

    /// <summary>A fingerprint of the key that encrypts it; null: it is not encrypted.</summary>
    internal string? KeyMark { get; init; }

    /// <summary>The duration of the run.</summary>
    public TimeSpan Duration { get; init; }

    /// <summary>The errors, by destination; null if there were none.</summary>
    public string? Problem =>
        Places.Any(static place => place.Error is not null)
            ? string.Join(
                " ",
                Places.Where(static place => place.Error is not null).Select(static place => $"{place.Address}: {place.Error}"))
            : null;
}

/// <summary>A backup task with its state.</summary>
/// <param name="Task">The task.</param>
/// <param name="State">The state of the task.</param>
/// <param name="IsRunning">Whether it is running.</param>
/// <param name="Next">When and for what kind of backup it is due next; null if it is not scheduled.</param>
/// <param name="Alert">A problem that needs attention; null if there is none.</param>
public sealed record BackupTaskInfo(BackupTask Task, BackupTaskState State, bool IsRunning, NextBackup? Next, string? Alert)
{
    /// <summary>The status of the log kept for this task; null if it does not back up the log.</summary>
    public TaskLogStatus? Log { get; init; }
}

/// <summary>The status of the log kept for a task.</summary>
/// <param name="IsLost">Whether part of the log was dropped because it exceeded the budget; the next run takes an
/// increment.</param>
/// <param name="WaitingBytes">The size in bytes of the log waiting to be backed up by this or another task.</param>
/// <param name="BudgetBytes">The maximum size in bytes of the log waiting to be backed up.</param>
public sealed record TaskLogStatus(bool IsLost, long WaitingBytes, long BudgetBytes);

/// <summary>The next scheduled run of a backup task.</summary>
/// <param name="At">When it is due (UTC); immediately if in the past.</param>
/// <param name="Kind">The kind of the run.</param>
public sealed record NextBackup(DateTime At, BackupRunKind Kind)
{
    /// <summary>Whether it is a full backup.</summary>
    public bool IsFull => Kind == BackupRunKind.Full;
}

/// <summary>The kinds of runs of a backup task.</summary>
public enum BackupRunKind
{
    /// <summary>A full backup.</summary>
    Full,

    /// <summary>An incremental backup of the changes since the last backup.</summary>
    Incremental,

    /// <summary>A backup of the log.</summary>
    Log,
}
