using System.Text;
using Treepie.Kinds;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Lifecycle;

/// <summary>
/// Applies the retention and roll-up policies of time series, in the background and in small durable steps. Thread-safe.
/// </summary>
/// <remarks>
/// Changes are found in the etag log; periods that end without a change are found in the index of times. Their positions advance
/// only when the work is done, and repeating it changes nothing: a run can be stopped or killed at any point.
/// </remarks>
public sealed class TimeSeriesPolicies : IDisposable
{
    /// <summary>Changed parts of series that are looked up at once.</summary>
    private const int ChangesPerRead = 256;

    /// <summary>The number of due documents read at once.</summary>
    private const int DuePerRead = 64;

    /// <summary>The number of series of a due document held in memory at once. Progress is stored after each series.</summary>
    internal const int SeriesPerPiece = 256;

    private readonly IWriteHost _host;
    private readonly PeriodicRun _runs;
    private readonly Lock _scheduling = new();

    internal TimeSeriesPolicies(IWriteHost host)
    {
        _host = host;
        _runs = new PeriodicRun(host.Options.TimeProvider, RunAsync);
        Apply();
    }

    /// <summary>The exception that ended the last background run; null if it succeeded.</summary>
    public Exception? LastError => _runs.LastError;

    /// <summary>The configuration; null if there is none.</summary>
    public TimeSeriesConfiguration? Configuration
    {
        get
        {
            using DatabaseSnapshot snapshot = _host.BeginRead();
            return SettingReader.Read(snapshot, TimeSeriesConfiguration.SettingName, TimeSeriesConfiguration.FromJson);
        }
    }

    /// <summary>Whether there is something to do.</summary>
    internal bool IsScheduled => _runs.IsScheduled;

    /// <summary>
    /// Sets or, with null, removes the configuration; existing roll-ups are kept. Completes when the change is durable.
    /// </summary>
    /// <exception cref="InvalidDocumentException">The policies contradict each other.</exception>
    public async Task ConfigureAsync(TimeSeriesConfiguration? configuration, CancellationToken cancellationToken = default)
    {
        byte[]? json = configuration?.ToJson();
        await _runs.NowAsync(
            stop => _host.WriteAsync(
                writer =>
                {
                    Restart(writer);
                    new SettingCommand(TimeSeriesConfiguration.SettingName, json).Apply(writer);
                    writer.Save();
                    return true;
                },
                stop),
            cancellationToken).ConfigureAwait(false);
        Apply();
    }

    /// <summary>Runs an action while no roll-up does.</summary>
    internal Task BetweenRunsAsync(Action action, CancellationToken cancellationToken) => _runs.NowAsync(
        _ =>
        {
            action();
            return Task.FromResult(true);
        },
        cancellationToken);

    /// <summary>Lets all series be processed again, since they may have new rules.</summary>
    internal static void Restart(DocumentWriter writer) =>
        SetProgress(writer, static progress => (progress.Etag, progress.Part) = (0, null));

    /// <summary>Applies all policies now, and returns the number of steps.</summary>
    public Task<long> RunAsync(CancellationToken cancellationToken = default) => _runs.NowAsync(RunAllAsync, cancellationToken);

    /// <inheritdoc/>
    public void Dispose() => _runs.Dispose();

    /// <summary>Sets the timer according to the configuration.</summary>
    internal void Apply()
    {
        lock (_scheduling) // read under it, so that an older configuration never replaces a newer one
            _runs.Schedule(
                Configuration is { } configuration && configuration.Collections.Values.Any(static rules => !rules.IsDisabled)
                    ? configuration.PolicyCheckFrequency ?? TimeSeriesConfiguration.DefaultFrequency
                    : null);
    }

    private async Task<long> RunAllAsync(CancellationToken cancellationToken)
    {
        long steps = 0;
        if (Configuration is not { } configuration || configuration.Collections.Count == 0)
            return steps;
        long now = _host.Options.TimeProvider.GetUtcNow().UtcTicks;
        await _host.WriteAsync(writer => SetProgress(writer, progress => progress.Advance(now)), cancellationToken)
            .ConfigureAwait(false);
        for (bool more = true; more;)
        {
            while (Changed() is { Count: > 0 } changed)
            {
                foreach (Stretch one in changed)
                    steps += await RollUpAsync(
                        one, configuration, progress => progress.Etag = Math.Max(progress.Etag, one.Etag), cancellationToken)
                        .ConfigureAwait(false);
            }

            List<byte[]> due = Due();
            foreach (byte[] key in due)
                steps += await RollUpDueAsync(key, configuration, cancellationToken).ConfigureAwait(false);
            // Roll-ups written here are themselves rolled up in this run, as they would be after an interruption.
            more = due.Count > 0;
        }

        return steps;
    }

    /// <summary>
    /// Rolls up the series of a document that is due, piece by piece, from where an earlier run stopped.
    /// </summary>
    private async Task<long> RollUpDueAsync(
        byte[] key, TimeSeriesConfiguration configuration, CancellationToken cancellationToken)
    {
        long steps = 0;
        while (SeriesOf(key) is { Count: > 0 } series)
        {
            foreach ((byte[] first, Stretch one) in series)
                steps += await RollUpAsync(one, configuration, progress => progress.Place = (key, first), cancellationToken)
                    .ConfigureAwait(false);
        }

        await _host.WriteAsync(
            writer =>
            {
                writer.Due.Delete(key);
                return SetProgress(writer, static progress => progress.Place = null);
            },
            cancellationToken).ConfigureAwait(false);
        return steps;
    }

    /// <summary>
    /// Rolls up a range; its last step also stores that it is done, so that an interrupted run continues after it.
    /// </summary>
    private async Task<long> RollUpAsync(
        Stretch one, TimeSeriesConfiguration configuration, Action<RollUpProgress> done, CancellationToken cancellationToken)
    {
        long steps = 0;
        for (long? from = one.From; from is { } at;)
        {
            cancellationToken.ThrowIfCancellationRequested();
            from = await _host.WriteAsync(
                writer =>
                {
                    byte[] before = writer.Due.RollUps.ToArray();
                    var progress = RollUpProgress.Read(before);
                    (long? next, long due) = new SeriesRollUp(
                        writer, one.FoldedId, one.Series, one.Etag, configuration, progress)
                        .Run(at, Math.Max(at, one.To));
                    if (due > 0)
                        writer.Due.Put(DueAction.RollUp, due, one.FoldedId);
                    if (next is null)
                        done(progress);
                    byte[] after = progress.ToJson();
                    if (!after.AsSpan().SequenceEqual(before))
                        writer.Due.SetRollUps(after);
                    writer.Save();
                    return next;
                },
                cancellationToken).ConfigureAwait(false);
            steps++;
        }

        return steps;
    }

    /// <summary>
    /// Returns what has changed since the last changes processed. Segments that follow each other, as those of an append do, are
    /// one part: otherwise a stretch would be rolled up once for each of its segments.
    /// </summary>
    private List<Stretch> Changed()
    {
        var changed = new List<Stretch>();
        using DatabaseSnapshot snapshot = _host.BeginRead();
        using LogReader log = snapshot.Kinds.Log(RollUpProgress.Read(snapshot.Due.RollUps).Etag);
        byte[]? following = null;
        while (changed.Count < ChangesPerRead && log.MoveNext())
        {
            if (KindKey.KindOf(log.Value) != Kind.TimeSeries)
                continue;
            byte[] key = log.Value.ToArray();
            Stretch one = StretchOf(snapshot, key, log.Etag);
            if (following is not null && following.AsSpan().SequenceEqual(key))
                changed[^1] = changed[^1] with { To = one.To, Etag = one.Etag };
            else
                changed.Add(one);
            following = snapshot.Kinds.SegmentAfter(key[..^TreeNames.EtagKeyBytes], TreeNames.EtagOfKey(key));
        }

        return changed;
    }

    /// <summary>Returns the keys of documents that are due.</summary>
    private List<byte[]> Due()
    {
        using DatabaseSnapshot snapshot = _host.BeginRead();
        return snapshot.Due.Due(DueAction.RollUp, RollUpProgress.Read(snapshot.Due.RollUps).Ticks, DuePerRead);
    }

    /// <summary>Returns the next series of a due document, each with its first segment.</summary>
    private List<(byte[] First, Stretch Series)> SeriesOf(byte[] dueKey)
    {
        using DatabaseSnapshot snapshot = _host.BeginRead();
        byte[]? after = RollUpProgress.Read(snapshot.Due.RollUps).Place is { } place
            && place.DueKey.AsSpan().SequenceEqual(dueKey)
                ? place.Segment
                : null;
        return
        [
            .. snapshot.Kinds.FirstSegments(DueIndex.IdOf(dueKey).ToArray(), after, SeriesPerPiece)
                .Select(first => (first, Whole(snapshot, first))),
        ];
    }

    /// <summary>Returns a series from its last segment on.</summary>
    private static Stretch Whole(DatabaseSnapshot snapshot, byte[] first)
    {
        byte[] prefix = first[..^TreeNames.EtagKeyBytes];
        byte[] last = snapshot.Kinds.SegmentAt(prefix, DateTime.MaxValue.Ticks) ?? first;
        return StretchOf(snapshot, last, 0);
    }

    private static Stretch StretchOf(DatabaseSnapshot snapshot, byte[] key, long etag)
    {
        KindRecord record = snapshot.Kinds.RecordOf(key);
        var segment = new TimeSeriesSegment(record.Value);
        return new Stretch(
            KindKey.OwnerOf(key).ToArray(), Encoding.UTF8.GetString(record.Name), segment.FirstTicks, segment.LastTicks, etag);
    }

    private static bool SetProgress(DocumentWriter writer, Action<RollUpProgress> change)
    {
        var progress = RollUpProgress.Read(writer.Due.RollUps);
        change(progress);
        writer.Due.SetRollUps(progress.ToJson());
        return true;
    }

    /// <summary>A changed part of a series.</summary>
    private readonly record struct Stretch(byte[] FoldedId, string Series, long From, long To, long Etag);
}
