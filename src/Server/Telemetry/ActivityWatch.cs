using System.Collections.Concurrent;
using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Treepie.Server.Telemetry;

/// <summary>
/// Counts what the server does from its making until <see cref="Stop"/>, by listening to the meters while it lives: nothing is
/// counted, and nothing paid, while nobody watches. Any thread may measure; one makes, stops and reads.
/// </summary>
internal sealed class ActivityWatch : IDisposable
{
    private readonly MeterListener listener = new();
    private readonly ServerTelemetry telemetry;
    private readonly TimeProvider clock;
    private readonly long begunAt;
    private readonly TimeSpan cpuBefore = Environment.CpuUsage.TotalTime;
    private readonly TimeSpan pausesBefore = GC.GetTotalPauseDuration();
    private readonly ConcurrentDictionary<string, DatabaseActivity> databases = new(StringComparer.Ordinal);
    private long requests;
    private long failures;
    private long bulkInserted;

    public ActivityWatch(ServerTelemetry telemetry, TimeProvider clock)
    {
        this.telemetry = telemetry;
        this.clock = clock;
        begunAt = clock.GetTimestamp();
        listener.InstrumentPublished = Listen;
        listener.SetMeasurementEventCallback<double>(MeasureDuration);
        listener.SetMeasurementEventCallback<long>(MeasureCount);
        listener.Start();
    }

    /// <summary>From the beginning to <see cref="Stop"/>.</summary>
    public TimeSpan Elapsed { get; private set; }

    /// <summary>Time of all processors that the process took.</summary>
    public TimeSpan Cpu { get; private set; }

    /// <summary>Time in which the garbage collector held the process.</summary>
    public TimeSpan Pauses { get; private set; }

    /// <summary>Requests begun.</summary>
    public long Requests => Interlocked.Read(ref requests);

    /// <summary>Requests answered with an error of the server.</summary>
    public long Failures => Interlocked.Read(ref failures);

    /// <summary>Documents stored by bulk inserts.</summary>
    public long BulkInserted => Interlocked.Read(ref bulkInserted);

    /// <summary>The databases that wrote or searched, the busiest first.</summary>
    public IReadOnlyList<(string Name, DatabaseActivity Activity)> Databases =>
        [.. databases.Select(static one => (one.Key, one.Value)).OrderByDescending(static one => one.Value.Count)
            .ThenBy(static one => one.Key, StringComparer.Ordinal)];

    /// <summary>Ends the counting. A second call does nothing.</summary>
    public void Stop()
    {
        if (Elapsed != default)
            return;
        listener.Dispose();
        Elapsed = clock.GetElapsedTime(begunAt);
        Cpu = Environment.CpuUsage.TotalTime - cpuBefore;
        Pauses = GC.GetTotalPauseDuration() - pausesBefore;
    }

    public void Dispose() => listener.Dispose();

    private void Listen(Instrument instrument, MeterListener listening)
    {
        if (instrument is Histogram<double> && instrument.Meter.Name == ServerTelemetry.DatabaseMeterName
            || instrument is Counter<long> && telemetry.Owns(instrument.Meter))
            listening.EnableMeasurementEvents(instrument);
    }

    private void MeasureDuration(
        Instrument instrument, double seconds, ReadOnlySpan<KeyValuePair<string, object?>> tags, object? state)
    {
        if (tags is not [{ Value: string database }])
            return;
        DatabaseActivity activity = databases.GetOrAdd(database, static _ => new DatabaseActivity());
        (instrument.Name == ServerTelemetry.WritesName ? activity.Writes : activity.Queries).Add(seconds);
    }

    private void MeasureCount(Instrument instrument, long count, ReadOnlySpan<KeyValuePair<string, object?>> tags, object? state)
    {
        switch (instrument.Name)
        {
            case ServerTelemetry.RequestsName:
                Interlocked.Add(ref requests, count);
                break;
            case ServerTelemetry.FailuresName:
                Interlocked.Add(ref failures, count);
                break;
            case ServerTelemetry.BulkInsertedName:
                Interlocked.Add(ref bulkInserted, count);
                break;
            default:
                throw new UnreachableException($"Counter {instrument.Name} is not known here.");
        }
    }
}
