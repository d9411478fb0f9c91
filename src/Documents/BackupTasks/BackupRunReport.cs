using Treepie.Backups;

namespace Treepie.BackupTasks;

/// <summary>What a run of a task did.</summary>
public sealed record BackupRunReport
{
    /// <summary>What is in the backup; null where nothing had changed since the last and none was written.</summary>
    public BackupReport? Report { get; init; }

    /// <summary>Its name at the places; empty where none was written.</summary>
    public string Object { get; init; } = "";

    /// <summary>How each place did.</summary>
    public IReadOnlyList<BackupPlaceResult> Places { get; init; } = [];

    /// <summary>What was shown to be restorable; null where that was not asked for, or failed.</summary>
    public ProvenPoint? Proven { get; init; }

    /// <summary>Places at which it was written, and reading it back failed.</summary>
    public IReadOnlyList<string> Unproven { get; init; } = [];

    /// <summary>What is kept now, the oldest first.</summary>
    public IReadOnlyList<KeptBackup> Kept { get; init; } = [];

    /// <summary>What was deleted because of its age.</summary>
    public IReadOnlyList<string> Deleted { get; init; } = [];

    /// <summary>What it was.</summary>
    public BackupRunKind Kind { get; init; }

    /// <summary>Why the log could not go on, where it was to and an increment was taken; null else.</summary>
    public string? LogGap { get; init; }

    /// <summary>Places at which all of the log is that follows the last snapshot or increment.</summary>
    public IReadOnlyList<string> LogAddresses { get; init; } = [];

    /// <summary>The stretch of the log that was written; null for others.</summary>
    public KeptLog? Log { get; init; }

    /// <summary>What can be restored now; null where nothing was written.</summary>
    public RestorableMoment? Newest { get; init; }

    /// <summary>Where its chain stands, for the next increment; null where none can go on from it.</summary>
    public string? Link { get; init; }

    /// <summary>Where the database stood when it was begun; null where none was written.</summary>
    internal string? Mark { get; init; }

    /// <summary>A mark of the key it is sealed with; null: with none.</summary>
    internal string? KeyMark { get; init; }

    /// <summary>How long it took.</summary>
    public TimeSpan Duration { get; init; }

    /// <summary>What failed, place by place; null where nothing did.</summary>
    public string? Problem =>
        Places.Any(static place => place.Error is not null)
            ? string.Join(
                " ",
                Places.Where(static place => place.Error is not null).Select(static place => $"{place.Address}: {place.Error}"))
            : null;
}

/// <summary>A task, what has become of it, and what comes next.</summary>
/// <param name="Task">The task.</param>
/// <param name="State">What has become of it.</param>
/// <param name="IsRunning">Whether it is at work now.</param>
/// <param name="Next">When it is due next (UTC), and whether for a full backup; null where it is not.</param>
/// <param name="Alert">What somebody should look at; null where all is well.</param>
public sealed record BackupTaskInfo(BackupTask Task, BackupTaskState State, bool IsRunning, NextBackup? Next, string? Alert)
{
    /// <summary>How the log is that waits for this task; null where it archives none.</summary>
    public TaskLogStatus? Log { get; init; }
}

/// <summary>What of the log waits for a task.</summary>
/// <param name="IsLost">Whether some of it is not kept any more, because more waited than may: the next run takes an
/// increment.</param>
/// <param name="WaitingBytes">Bytes that wait, for this task or another one.</param>
/// <param name="BudgetBytes">Most that may.</param>
public sealed record TaskLogStatus(bool IsLost, long WaitingBytes, long BudgetBytes);

/// <summary>When a task is due.</summary>
/// <param name="At">When (UTC); in the past: at once.</param>
/// <param name="Kind">For what.</param>
public sealed record NextBackup(DateTime At, BackupRunKind Kind)
{
    /// <summary>Whether for a full backup.</summary>
    public bool IsFull => Kind == BackupRunKind.Full;
}

/// <summary>What a run of a task does.</summary>
public enum BackupRunKind
{
    /// <summary>Backs everything up.</summary>
    Full,

    /// <summary>Saves what has changed since the last backup.</summary>
    Incremental,

    /// <summary>Archives the log.</summary>
    Log,
}
