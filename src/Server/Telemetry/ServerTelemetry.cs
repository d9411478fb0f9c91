using System.Diagnostics.Metrics;

namespace Treepie.Server.Telemetry;

/// <summary>Metrics of the HTTP API, under the meter <c>Treepie.Server</c>. Thread-safe.</summary>
internal sealed class ServerTelemetry : IDisposable
{
    public const string MeterName = "Treepie.Server";

    /// <summary>
    /// The name of the meter of databases, which is also that of their activity source, and of the histogram of writes.
    /// </summary>
    public const string DatabaseMeterName = "Treepie", WritesName = "treepie.write.duration";

    public const string RequestsName = "treepie.server.requests", FailuresName = "treepie.server.failures",
        BulkInsertedName = "treepie.server.bulk_inserted";

    private readonly Meter _meter = new(MeterName);
    private readonly Counter<long> _requests;
    private readonly Counter<long> _failures;
    private readonly UpDownCounter<long> _running;
    private readonly Counter<long> _bulkInserted;

    public ServerTelemetry()
    {
        _requests = _meter.CreateCounter<long>(RequestsName, "{request}", "Requests begun.");
        _failures = _meter.CreateCounter<long>(
            FailuresName, "{request}", "Requests answered with an error of the server (5xx).");
        _running = _meter.CreateUpDownCounter<long>("treepie.server.running", "{request}", "Requests at work.");
        _bulkInserted = _meter.CreateCounter<long>(
            BulkInsertedName, "{document}", "Documents stored by bulk inserts.");
    }

    /// <summary>Adds a gauge of one mapping of the API.</summary>
    public void Show(string name, string unit, string description, Func<long> observe) =>
        _meter.CreateObservableGauge(name, observe, unit, description);

    /// <summary>Returns whether a meter belongs to this instance, not to another one in the same process.</summary>
    public bool Owns(Meter other) => ReferenceEquals(other, _meter);

    public void RequestBegun()
    {
        _requests.Add(1);
        _running.Add(1);
    }

    public void RequestEnded() => _running.Add(-1);

    public void RequestFailed() => _failures.Add(1);

    public void BulkInserted(long documents) => _bulkInserted.Add(documents);

    public void Dispose() => _meter.Dispose();
}
