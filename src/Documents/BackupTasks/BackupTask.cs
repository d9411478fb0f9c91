using System.Text.Json.Serialization;
using Treepie.Backups;
using Treepie.Destinations;
using Treepie.Encryption;
using Treepie.Schedules;
using Treepie.Storage;

namespace Treepie.BackupTasks;

/// <summary>
/// A backup task: what to back up, when, where to, and how long to keep it. Immutable. <see cref="ToString"/> shows no keys.
/// </summary>
public sealed record BackupTask
{
    /// <summary>The maximum number of destinations of a task.</summary>
    public const int MaxDestinations = 8;

    /// <summary>
    /// The default of <see cref="PercentWhileWriting"/> for scheduled runs. It costs writers at most a tenth of their throughput
    /// (benchmark suite <c>backup</c>).
    /// </summary>
    public const int DefaultPercentWhileWriting = 12;

    /// <summary>The minimum of <see cref="LogInterval"/>.</summary>
    public static readonly TimeSpan MinLogInterval = TimeSpan.FromSeconds(1);

    /// <summary>The id, at least 1; 0 for a new task.</summary>
    public long Id { get; init; }

    /// <summary>The name of the task.</summary>
    public string Name { get; init; } = "";

    /// <summary>Whether the schedules are disabled; the task can still be run on demand.</summary>
    public bool IsDisabled { get; init; }

    /// <summary>The schedule of full backups (see <see cref="CronSchedule"/>). Null: only on demand.</summary>
    public string? FullSchedule { get; init; }

    /// <summary>
    /// The schedule of incremental backups. Null: none. If nothing has changed, no backup is written.
    /// </summary>
    public string? IncrementalSchedule { get; init; }

    /// <summary>
    /// For snapshots: how long after each run the log is backed up, so that every commit since the last backup can be restored
    /// individually. Null: the log is not backed up. Makes the database archive its log. At least <see cref="MinLogInterval"/>.
    /// If nothing has changed, nothing is written; if the log has a gap, an increment is taken, and the log continues from there.
    /// </summary>
    public TimeSpan? LogInterval { get; init; }

    /// <summary>
    /// The maximum size in bytes of the log kept on disk for this task, at least 1 MiB; if it is exceeded, the log has a gap.
    /// Default: 1 GiB.
    /// </summary>
    public long LogBudgetBytes { get; init; } = 1L << 30;

    /// <summary>The name of the time zone of the schedules, such as <c>Europe/Paris</c>. Null: UTC.</summary>
    public string? TimeZone { get; init; }

    /// <summary>The destinations; a run writes to all of them from one stream.</summary>
    public IReadOnlyList<DestinationSettings> Destinations { get; init; } = [];

    /// <summary>
    /// Writes to folders first and copies from there to the other destinations, instead of writing to all at once. Requires a
    /// folder.
    /// </summary>
    public bool UploadsAfterDisk { get; init; }

    /// <summary>
    /// The kind of the backups: documents as JSON, or pages. Incremental backups contain only changed documents and tombstones,
    /// or pages written since the previous backup. Default: JSON.
    /// </summary>
    public BackupKind Kind { get; init; }

    /// <summary>The compression of the backups.</summary>
    public BackupCompression Compression { get; init; }

    /// <summary>
    /// The percentage of time, from 5 to 100, during which a run, including verification, works while documents are being written
    /// (<see cref="BackupOptions.PercentWhileWriting"/>). Null: 12, or 100 for a task that is run once without being stored.
    /// </summary>
    public int? PercentWhileWriting { get; init; }

    /// <summary>Allows unencrypted backups of an encrypted database.</summary>
    public bool AllowPlain { get; init; }

    /// <summary>
    /// The source of the key with which backups are encrypted, as interpreted by the program's <see cref="IBackupKeySources"/>.
    /// Null: as for the database.
    /// </summary>
    public string? KeySource { get; init; }

    /// <summary>
    /// The key itself, in base64. Only for encrypted databases, which store it encrypted; for others, set a
    /// <see cref="KeySource"/>.
    /// </summary>
    public string? Key { get; init; }

    /// <summary>
    /// Verifies each backup by reading it back from each destination and comparing it with the database. Default: true.
    /// </summary>
    public bool Proves { get; init; } = true;

    /// <summary>
    /// The age of the last verified backup above which an alert is raised. Null: when two consecutive runs have been missed.
    /// </summary>
    public TimeSpan? AlertAfter { get; init; }

    /// <summary>How long backups are kept. Null: forever.</summary>
    public TimeSpan? KeepFor { get; init; }

    /// <summary>The number of backups that are kept regardless of their age. Default: 1.</summary>
    public int KeepAtLeast { get; init; } = 1;

    /// <summary>When the task was created (UTC).</summary>
    public DateTime CreatedAt { get; init; }

    /// <summary>The schedule of full backups; null if there is none.</summary>
    [JsonIgnore]
    internal CronSchedule? Full => FullSchedule is null ? null : CronSchedule.Parse(FullSchedule, Zone);

    /// <summary>The schedule of incremental backups; null if there is none.</summary>
    [JsonIgnore]
    internal CronSchedule? Incremental => IncrementalSchedule is null ? null : CronSchedule.Parse(IncrementalSchedule, Zone);

    [JsonIgnore]
    private TimeZoneInfo Zone => TimeZone is null
        ? TimeZoneInfo.Utc
        : TimeZoneInfo.TryFindSystemTimeZoneById(TimeZone, out TimeZoneInfo? found)
            ? found
            : throw new FormatException(
                $"There is no time zone '{TimeZone}' on this system. Give a name such as Europe/Paris, or none for UTC.");

    /// <summary>Validates the task.</summary>
    /// <param name="providers">The supported kinds of destinations.</param>
    /// <param name="keys">Resolves its key source. Null: key sources as written by users.</param>
    /// <exception cref="BackupTaskException">The task is not valid.</exception>
    public void Validate(DestinationProviders providers, IBackupKeySources? keys = null)
    {
        ArgumentNullException.ThrowIfNull(providers);
        try
        {
            _ = Full;
            _ = Incremental;
            foreach (DestinationSettings destination in Destinations)
                providers.Open(destination).Dispose();
            if (KeySource is not null)
                _ = (keys ?? new WrittenKeySources()).Find(KeySource);
        }
        catch (Exception error) when (error is FormatException or DestinationException or KeySourceException or ArgumentException)
        {
            throw new BackupTaskException($"The backup task '{Name}' cannot be: {error.Message} Nothing was changed.", error);
        }

        Require(Name.Length is > 0 and <= 128, "its name must have 1 to 128 characters");
        Require(
            Destinations.Count is > 0 and <= MaxDestinations, $"it needs a place to write to, and can have {MaxDestinations}");
        Require(
            Destinations.DistinctBy(static destination => destination.Address, StringComparer.Ordinal).Count()
                == Destinations.Count,
            "two of its places are the same");
        Require(Kind is BackupKind.Logical or BackupKind.Snapshot, $"a task cannot make backups of kind {Kind}");
        Require(
            LogInterval is null || Kind == BackupKind.Snapshot,
            "it archives the log, which continues snapshots only; make it one of snapshots");
        Require(LogInterval is null || LogInterval >= MinLogInterval, "a second is the least between two stretches of the log");
        Require(
            LogInterval is null || LogBudgetBytes >= EnvironmentLog.MinBudgetBytes,
            FormattableString.Invariant($"{EnvironmentLog.MinBudgetBytes:N0} bytes are the least that the log may take"));
        Require(Enum.IsDefined(Compression), $"there is no compression {Compression}");
        Require(KeepFor is null || KeepFor >= TimeSpan.Zero, "the time for which backups are kept is negative");
        Require(
            PercentWhileWriting is null or (>= BackupPace.Least and <= BackupPace.Full),
            $"while documents are written it can work {BackupPace.Least} to {BackupPace.Full} percent of its time");
        Require(KeepAtLeast >= 1, "at least one backup is kept");
        Require(AlertAfter is null || AlertAfter > TimeSpan.Zero, "the age that is an alert must be greater than nothing");
        Require(Key is null || KeySource is null, "it has a key and says where a key is; one of them is enough");
        Require(
            !UploadsAfterDisk
                || Destinations.Any(static destination => !destination.Address.Contains("://", StringComparison.Ordinal)),
            "uploading after the disk needs a folder among its places");
    }

    /// <summary>Returns the name and id of the task.</summary>
    public override string ToString() => System.FormattableString.Invariant($"backup task {Id} '{Name}'");

    private void Require(bool holds, string otherwise)
    {
        if (!holds)
            throw new BackupTaskException($"The backup task '{Name}' cannot be: {otherwise}. Nothing was changed.");
    }
}
