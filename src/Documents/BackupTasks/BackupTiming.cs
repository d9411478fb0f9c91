using System.Globalization;
using Treepie.Schedules;

namespace Treepie.BackupTasks;

/// <summary>
/// Computes when a task is due, and when to raise an alert because no backup was verified for too long. Pure functions of
/// state and time.
/// </summary>
internal static class BackupTiming
{
    private static readonly TimeSpan _firstRetry = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan _longestRetry = TimeSpan.FromHours(1);

    /// <summary>
    /// How far clocks are set back in ordinary operation. A stored time further ahead was stored by a clock that was wrong.
    /// </summary>
    private static readonly TimeSpan _clockTolerance = TimeSpan.FromMinutes(10);

    /// <summary>When a run is due whose last time is unknown: before all others.</summary>
    private static readonly DateTime _atOnce = DateTime.UnixEpoch;

    /// <summary>The time within which a backup is expected to finish.</summary>
    private static readonly TimeSpan _runTime = TimeSpan.FromHours(1);

    /// <summary>
    /// Returns the next run. It is computed from the start of the last one, so runs that were missed while the program was
    /// stopped are made up for once, however many there were. A failed run is retried, first after a minute, then after twice
    /// as long each time up to an hour, unless a more complete kind of backup is due by then. What was last done while the clock
    /// was ahead is due at once.
    /// </summary>
    public static NextBackup? Next(BackupTask task, BackupTaskState state, DateTime now)
    {
        if (task.IsDisabled)
            return null;

        DateTime? fullFrom = Known(state.LastFullAttempt ?? task.CreatedAt, now),
            changesFrom = Later(Known(state.LastIncrementalAttempt ?? task.CreatedAt, now), fullFrom);
        (DateTime? At, BackupRunKind Kind)[] coming =
        [
            (Due(task.Full, fullFrom), BackupRunKind.Full),
            (Due(task.Incremental, changesFrom), BackupRunKind.Incremental),
            (task.LogInterval is { } interval
                ? Later(Known(state.LastLogAttempt ?? task.CreatedAt, now), changesFrom) + interval ?? _atOnce
                : null, BackupRunKind.Log),
        ];
        // if two are due at the same time, the more complete kind
        (DateTime? At, BackupRunKind Kind) first = coming.MinBy(static next => next.At ?? DateTime.MaxValue);
        DateTime? notBefore = state.AsOf(now).NotBefore;
        if (state.Failures > 0 && notBefore is { } retry && first.At is { } other)
            return new NextBackup(retry, other <= retry && first.Kind < state.FailedRun ? first.Kind : state.FailedRun);
        return first.At is { } due
            ? new NextBackup(Later(due == _atOnce ? now : due, notBefore) ?? due, first.Kind)
            : null;
    }

    /// <summary>Returns whether a stored time is so far in the future that the clock was ahead when it was stored.</summary>
    public static bool IsAhead(DateTime stored, DateTime now) => stored - now > _clockTolerance;

    /// <summary>Returns the delay after a number of consecutive failures.</summary>
    public static TimeSpan RetryAfter(int failures) =>
        failures > 10
            ? _longestRetry
            : TimeSpan.FromTicks(Math.Min(_longestRetry.Ticks, _firstRetry.Ticks << Math.Max(0, failures - 1)));

    /// <summary>
    /// Returns the text of an alert; null if none is needed. A task that has failed and never succeeded raises an alert at
    /// once, since nothing can be restored. Other tasks do when the last backup, or the last verified one if the task
    /// verifies backups, has become too old, or has a time that is yet to come, so that its age is unknown.
    /// </summary>
    public static string? Alert(BackupTask task, BackupTaskState state, DateTime now)
    {
        if (task.IsDisabled)
            return null;
        if (state is { LastFull: null, Kept.Count: 0, Error: { } error })
            return $"The {task} has never succeeded: there is no backup of it. {error}";
        if (task is { FullSchedule: null, IncrementalSchedule: null, LogInterval: null })
            return null;

        DateTime since = (task.Proves ? state.LastProven?.TakenAt : LastSuccess(state)) ?? task.CreatedAt;
        if (state.Newest is { IsProven: true } newest && task.LogInterval is not null)
            since = Later(since, newest.At) ?? since;
        if (IsAhead(since, now))
            return FormattableString.Invariant(
                $"The last backup of the {task} is of {since:u}, which is yet to come: the clock was wrong then, or is now. Its ")
                + "real age is unknown until the next one.";
        TimeSpan most = task.AlertAfter
            ?? (task.LogInterval is { } interval
                ? interval + interval + _runTime
                : TwoTimes(task.Full ?? task.Incremental, since));
        string last = !task.Proves
            ? state.LastFull is null
            ? "No backup of it was ever taken"
            : FormattableString.Invariant($"Its last backup is of {since:u}")
                : state.LastProven is null
                ? "No backup of it was ever proven to be restorable"
                : FormattableString.Invariant($"Its last backup that was proven to be restorable is of {since:u}");
        return now - since > most
            ? string.Create(CultureInfo.InvariantCulture, $"{last}, and {most.TotalHours:N1} hours are the most for "
                    + $"{task}.{(state.Error is null ? "" : " " + state.Error)}")
            : null;
    }

    /// <summary>Returns when a run last succeeded, even if nothing had changed.</summary>
    private static DateTime? LastSuccess(BackupTaskState state) =>
        new[] { state.LastFull, state.LastIncremental, state.LastLog }.Max();

    private static TimeSpan TwoTimes(CronSchedule? schedule, DateTime since)
    {
        DateTime at = since;
        for (int time = 0; time < 2; time++)
            at = Due(schedule, at) ?? DateTime.MaxValue;
        return at == DateTime.MaxValue ? TimeSpan.MaxValue : at - since + _runTime;
    }

    private static DateTime? Known(DateTime stored, DateTime now) => IsAhead(stored, now) ? null : stored;

    /// <summary>Returns the first time of a schedule after another, which is null if it is unknown.</summary>
    private static DateTime? Due(CronSchedule? schedule, DateTime? after) =>
        schedule is null || after is not { } time
            ? schedule is null ? null : _atOnce
            : schedule.Next(new DateTimeOffset(DateTime.SpecifyKind(time, DateTimeKind.Utc)))?.UtcDateTime;

    /// <summary>Returns the later of two times, or the one that is known.</summary>
    private static DateTime? Later(DateTime? one, DateTime? other) => one is null || other > one ? other : one;
}
