using Treepie.Server.Databases;
using Treepie.Server.Limits;
using Treepie.Server.Telemetry;

namespace Treepie.Server.Http;

/// <summary>The services used by every request of one mapping of the API. Thread-safe.</summary>
internal abstract class RequestServices
{
    private protected RequestServices(
        IDatabaseSource source, ServerLimits limits, TimeSpan? slowRequests, TimeProvider clock, ILoggerFactory loggers,
        ServerTelemetry telemetry)
    {
        Limits = limits;
        Clock = clock;
        Logger = loggers.CreateLogger("Treepie.Server");
        Telemetry = telemetry;
        Databases = new DatabaseGate(source, clock, Logger);
        Requests = new WorkShare("requests", limits.MaxConcurrentRequests, limits.MaxRequestsPerClient);
        Streams = new WorkShare("streams", limits.MaxStreams, limits.MaxStreamsPerClient);
        Queries = new QueryQueue(limits, clock);
        Buffers = new BufferBudget(limits.MaxBufferedBytes);
        SlowLog = slowRequests is { } slow ? new SlowLog(loggers.CreateLogger(SlowLog.Category), slow, clock) : null;
        telemetry.Show("treepie.server.queries.running", "{query}", "Queries at work.", () => Queries.Running);
        telemetry.Show(
            "treepie.server.queries.waiting", "{query}", "Queries that wait for their first turn.", () => Queries.Queued);
        telemetry.Show("treepie.server.streams", "{stream}", "Streams and exports at work.", () => Streams.Taken);
        telemetry.Show("treepie.server.buffered", "By", "Bytes of request bodies held in memory.", () => Buffers.HeldBytes);
        telemetry.Show(
            "treepie.server.databases", "{database}", "Databases there are, open or not.", () => Databases.Names.Count);
    }

    public ServerLimits Limits { get; }

    /// <summary>Limits ordinary requests, which are to end soon.</summary>
    public WorkShare Requests { get; }

    /// <summary>Limits streamed responses, which last as long as their readers want.</summary>
    public WorkShare Streams { get; }

    /// <summary>Limits queries that search or read their results.</summary>
    public QueryQueue Queries { get; }

    /// <summary>Limits the total memory of request bodies.</summary>
    public BufferBudget Buffers { get; }

    public DatabaseGate Databases { get; }

    public TimeProvider Clock { get; }

    public ILogger Logger { get; }

    public ServerTelemetry Telemetry { get; }

    /// <summary>The log of slow requests; null if there is none.</summary>
    public SlowLog? SlowLog { get; }

    /// <summary>
    /// Cancelled when the application stops: the databases are closed next, even if work is still running.
    /// </summary>
    public CancellationToken Stopping { get; init; }

    /// <summary>Whether callers are identified; if not, the surrounding application controls access.</summary>
    public abstract bool KnowsCallers { get; }
}
