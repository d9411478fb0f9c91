using System.Collections.Concurrent;
using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Treepie.Server.Telemetry;

/// <summary>
/// Measures the activity of the server from its creation until <see cref="Stop"/>, by listening to the meters: without a
/// watch, nothing is counted and there is no cost. Measurements come from any thread; creating, stopping and reading are not
/// thread-safe.
/// </summary>
internal sealed class ActivityWatch : IDisposable
{
    private readonly MeterListener _listener = new();
    private readonly ServerTelemetry _telemetry;
    private readonly TimeProvider _clock;
    private readonly long _begunAt;
    private readonly TimeSpan _cpuBefore = Environment.CpuUsage.TotalTime;
    private readonly TimeSpan _pausesBefore = GC.GetTotalPauseDuration();
    private readonly ConcurrentDictionary<string, DatabaseActivity> _databases = new(StringComparer.Ordinal);
    private long _requests;
    private long _failures;
    private long _bulkInserted;

    public ActivityWatch(ServerTelemetry telemetry, TimeProvider clock)
    {
        _telemetry = telemetry;
        _clock = clock;
        _begunAt = clock.GetTimestamp();
        _listener.InstrumentPublished = Listen;
        _listener.SetMeasurementEventCallback<double>(MeasureDuration);
        _listener.SetMeasurementEventCallback<long>(MeasureCount);
        _listener.Start();
    }

    /// <summary>The time from the creation to <see cref="Stop"/>.</summary>
    public TimeSpan Elapsed { get; private set; }

    /// <summary>The processor time used by the process on all cores.</summary>
    public TimeSpan Cpu { get; private set; }

    /// <summary>The time for which the garbage collector paused the process.</summary>
    public TimeSpan Pauses { get; private set; }

    /// <summary>The number of requests started.</summary>
    public long Requests => Interlocked.Read(ref _requests);

    /// <summary>The number of requests answered with a server error.</summary>
    public long Failures => Interlocked.Read(ref _failures);

    /// <summary>The number of documents stored by bulk inserts.</summary>
    public long BulkInserted => Interlocked.Read(ref _bulkInserted);

    /// <summary>The databases with writes or queries, busiest first.</summary>
    public IReadOnlyList<(string Name, DatabaseActivity Activity)> Databases =>
        [.. _databases.Select(static one => (one.Key, one.Value)).OrderByDescending(static one => one.Value.Count)
            .ThenBy(static one => one.Key, StringComparer.Ordinal)];

    /// <summary>Stops measuring. Further calls have no effect.</summary>
    public void Stop()
    {
        if (Elapsed != default)
            return;
        _listener.Dispose();
        Elapsed = _clock.GetElapsedTime(_begunAt);
        Cpu = Environment.CpuUsage.TotalTime - _cpuBefore;
        Pauses = GC.GetTotalPauseDuration() - _pausesBefore;
    }

    public void Dispose() => _listener.Dispose();

    private void Listen(Instrument instrument, MeterListener listening)
    {
        if (instrument is Histogram<double> && instrument.Meter.Name == ServerTelemetry.DatabaseMeterName
            || instrument is Counter<long> && _telemetry.Owns(instrument.Meter))
            listening.EnableMeasurementEvents(instrument);
    }

    private void MeasureDuration(
        Instrument instrument, double seconds, ReadOnlySpan<KeyValuePair<string, object?>> tags, object? state)
    {
        if (tags is not [{ Value: string database }])
            return;
        DatabaseActivity activity = _databases.GetOrAdd(database, static _ => new DatabaseActivity());
        (instrument.Name == ServerTelemetry.WritesName ? activity.Writes : activity.Queries).Add(seconds);
    }

    private void MeasureCount(Instrument instrument, long count, ReadOnlySpan<KeyValuePair<string, object?>> tags, object? state)
    {
        switch (instrument.Name)
        {
            case ServerTelemetry.RequestsName:
                Interlocked.Add(ref _requests, count);
                break;
            case ServerTelemetry.FailuresName:
                Interlocked.Add(ref _failures, count);
                break;
            case ServerTelemetry.BulkInsertedName:
                Interlocked.Add(ref _bulkInserted, count);
                break;
            default:
                throw new UnreachableException($"Counter {instrument.Name} is not known here.");
        }
    }
}
