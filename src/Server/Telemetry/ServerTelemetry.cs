using System.Diagnostics.Metrics;

namespace Treepie.Server.Telemetry;

/// <summary>Counters of the HTTP API, under the meter <c>Treepie.Server</c>. Thread-safe.</summary>
internal sealed class ServerTelemetry : IDisposable
{
    public const string MeterName = "Treepie.Server";

    private readonly Meter meter = new(MeterName);
    private readonly Counter<long> requests;
    private readonly Counter<long> failures;
    private readonly UpDownCounter<long> running;
    private readonly Counter<long> bulkInserted;

    public ServerTelemetry()
    {
        requests = meter.CreateCounter<long>("treepie.server.requests", "{request}", "Requests begun.");
        failures = meter.CreateCounter<long>(
            "treepie.server.failures", "{request}", "Requests answered with an error of the server (5xx).");
        running = meter.CreateUpDownCounter<long>("treepie.server.running", "{request}", "Requests at work.");
        bulkInserted = meter.CreateCounter<long>(
            "treepie.server.bulk_inserted", "{document}", "Documents stored by bulk inserts.");
    }

    /// <summary>Shows a number of one mapping of the API whenever somebody asks.</summary>
    public void Show(string name, string unit, string description, Func<long> observe) =>
        meter.CreateObservableGauge(name, observe, unit, description);

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
