using System.Text.Json.Serialization;
using Treepie.Backups;
using Treepie.Destinations;
using Treepie.Encryption;
using Treepie.Schedules;
using Treepie.Storage;

namespace Treepie.BackupTasks;

/// <summary>What is to be backed up, when, where to, and how long it is kept. Immutable. Its text shows no keys.</summary>
public sealed record BackupTask
{
    /// <summary>Most places of one task.</summary>
    public const int MaxDestinations = 8;

    /// <summary>
    /// Of what runs by itself: <see cref="PercentWhileWriting"/> where none is given. Writers lose at most a tenth by it (suite
    /// <c>backup</c>).
    /// </summary>
    public const int DefaultPercentWhileWriting = 12;

    /// <summary>Shortest <see cref="LogInterval"/>.</summary>
    public static readonly TimeSpan MinLogInterval = TimeSpan.FromSeconds(1);

    /// <summary>Its number, from 1 on; 0: a new one.</summary>
    public long Id { get; init; }

    /// <summary>Its name.</summary>
    public string Name { get; init; } = "";

    /// <summary>Whether its times are passed over; it can still be run by hand.</summary>
    public bool IsDisabled { get; init; }

    /// <summary>When a backup of everything is due (see <see cref="CronSchedule"/>); null: only by hand.</summary>
    public string? FullSchedule { get; init; }

    /// <summary>
    /// When, besides, changes since the last backup are to be saved; null: never. Where nothing has changed nothing is written.
    /// </summary>
    public string? IncrementalSchedule { get; init; }

    /// <summary>
    /// Of snapshots: how long after the last run the log is archived, so that all commits since can be restored to, each by
    /// itself; null: it is not. The database keeps its log for that. At least <see cref="MinLogInterval"/>. Where nothing has
    /// changed nothing is written; where the log has a gap an increment is taken, and the log goes on from there.
    /// </summary>
    public TimeSpan? LogInterval { get; init; }

    /// <summary>
    /// Most bytes of log that wait on the disk for this task, at least 1 MiB; beyond, the log has a gap. Default 1 GiB.
    /// </summary>
    public long LogBudgetBytes { get; init; } = 1L << 30;

    /// <summary>Name of the time zone both schedules go by, for instance <c>Europe/Paris</c>; null: UTC.</summary>
    public string? TimeZone { get; init; }

    /// <summary>Where to: all of them are written from one stream.</summary>
    public IReadOnlyList<DestinationSettings> Destinations { get; init; } = [];

    /// <summary>Writes to folders first and from there to the other places, instead of to all at once. Needs a folder.</summary>
    public bool UploadsAfterDisk { get; init; }

    /// <summary>
    /// What backups are made of: documents as JSON, or pages. The times between full backups save only documents that changed and
    /// deletions, or pages that came since. Default JSON.
    /// </summary>
    public BackupKind Kind { get; init; }

    /// <summary>Compression.</summary>
    public BackupCompression Compression { get; init; }

    /// <summary>
    /// Share of its time, in percent from 5 to 100, that a run works, and reads back what it wrote, while documents are written
    /// (<see cref="BackupOptions.PercentWhileWriting"/>); null: 12, and 100 for a backup that is taken once.
    /// </summary>
    public int? PercentWhileWriting { get; init; }

    /// <summary>Makes a plain backup also of an encrypted database.</summary>
    public bool AllowPlain { get; init; }

    /// <summary>
    /// Where the key is with which backups are sealed, as the <see cref="IBackupKeySources"/> of the program take it; null: as
    /// the database.
    /// </summary>
    public string? KeySource { get; init; }

    /// <summary>
    /// The key itself, in base64, for encrypted databases, which keep it encrypted; others are given a <see cref="KeySource"/>.
    /// </summary>
    public string? Key { get; init; }

    /// <summary>
    /// Reads each backup back from each place when it is there, and compares it with the database it was taken of. Default true.
    /// </summary>
    public bool Proves { get; init; } = true;

    /// <summary>How old the last proven backup may get before that is an alert; null: two times in a row may be missed.</summary>
    public TimeSpan? AlertAfter { get; init; }

    /// <summary>How long backups are kept; null: for ever.</summary>
    public TimeSpan? KeepFor { get; init; }

    /// <summary>How many are kept however old they are. Default 1.</summary>
    public int KeepAtLeast { get; init; } = 1;

    /// <summary>When it was made (UTC).</summary>
    public DateTime CreatedAt { get; init; }

    /// <summary>The times of full backups; null where there are none.</summary>
    [JsonIgnore]
    internal CronSchedule? Full => FullSchedule is null ? null : CronSchedule.Parse(FullSchedule, Zone);

    /// <summary>The times between them; null where there are none.</summary>
    [JsonIgnore]
    internal CronSchedule? Incremental => IncrementalSchedule is null ? null : CronSchedule.Parse(IncrementalSchedule, Zone);

    [JsonIgnore]
    private TimeZoneInfo Zone => TimeZone is null
        ? TimeZoneInfo.Utc
        : TimeZoneInfo.TryFindSystemTimeZoneById(TimeZone, out TimeZoneInfo? found)
            ? found
            : throw new FormatException(
                $"There is no time zone '{TimeZone}' on this system. Give a name such as Europe/Paris, or none for UTC.");

    /// <summary>Says what is wrong with it, before anything is done.</summary>
    /// <param name="providers">The kinds of places there are.</param>
    /// <param name="keys">What its key source means; null: what people write.</param>
    /// <exception cref="BackupTaskException">Something is.</exception>
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
            "it archives the log, which goes on from snapshots only; make it one of snapshots");
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

    /// <summary>Its name and number.</summary>
    public override string ToString() => System.FormattableString.Invariant($"backup task {Id} '{Name}'");

    private void Require(bool holds, string otherwise)
    {
        if (!holds)
            throw new BackupTaskException($"The backup task '{Name}' cannot be: {otherwise}. Nothing was changed.");
    }
}
