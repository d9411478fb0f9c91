using System.Diagnostics.Metrics;

namespace Treepie.Server.Telemetry;

/// <summary>Counters of the HTTP API, under the meter <c>Treepie.Server</c>. Thread-safe.</summary>
internal sealed class ServerTelemetry : IDisposable
{
    public const string MeterName = "Treepie.Server";

    /// <summary>
    /// The meter of databases, which is the name of their activity source too, and the histogram of their writes.
    /// </summary>
    public const string DatabaseMeterName = "Treepie", WritesName = "treepie.write.duration";

    public const string RequestsName = "treepie.server.requests", FailuresName = "treepie.server.failures",
        BulkInsertedName = "treepie.server.bulk_inserted";

    private readonly Meter meter = new(MeterName);
    private readonly Counter<long> requests;
    private readonly Counter<long> failures;
    private readonly UpDownCounter<long> running;
    private readonly Counter<long> bulkInserted;

    public ServerTelemetry()
    {
        requests = meter.CreateCounter<long>(RequestsName, "{request}", "Requests begun.");
        failures = meter.CreateCounter<long>(
            FailuresName, "{request}", "Requests answered with an error of the server (5xx).");
        running = meter.CreateUpDownCounter<long>("treepie.server.running", "{request}", "Requests at work.");
        bulkInserted = meter.CreateCounter<long>(
            BulkInsertedName, "{document}", "Documents stored by bulk inserts.");
    }

    /// <summary>Shows a number of one mapping of the API whenever somebody asks.</summary>
    public void Show(string name, string unit, string description, Func<long> observe) =>
        meter.CreateObservableGauge(name, observe, unit, description);

    /// <summary>Whether a meter is that of this mapping, not of another one in the same process.</summary>
    public bool Owns(Meter other) => ReferenceEquals(other, meter);

    public void RequestBegun()
    {
        requests.Add(1);
        running.Add(1);
    }

    public void RequestEnded() => running.Add(-1);

    public void RequestFailed() => failures.Add(1);

    public void BulkInserted(long documents) => bulkInserted.Add(documents);

    public void Dispose() => meter.Dispose();
}
