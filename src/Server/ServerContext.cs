using Treepie.Server.Backups;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Server.Limits;
using Treepie.Server.Operations;
using Treepie.Server.Security;
using Treepie.Server.Telemetry;

namespace Treepie.Server;

/// <summary>What every endpoint of one mapping of the API shares. Thread-safe.</summary>
internal sealed class ServerContext
{
    /// <summary>Each of them hears of every write and query.</summary>
    private const int MaxWatchers = 16;

    private readonly TreepieServerOptions options;
    private readonly TimeProvider clock;
    private readonly ILogger logger;
    private readonly ServerTelemetry telemetry;

    public ServerContext(
        IDatabaseSource source, TreepieServerOptions options, TimeProvider clock, ILoggerFactory loggers,
        ServerTelemetry telemetry)
    {
        this.options = options;
        this.clock = clock;
        logger = loggers.CreateLogger("Treepie.Server");
        this.telemetry = telemetry;
        Databases = new DatabaseGate(source, clock, logger);
        Operations = new ServerOperations(Limits.MaxRememberedOperations);
        Requests = new WorkShare("requests", Limits.MaxConcurrentRequests, Limits.MaxRequestsPerClient);
        BulkInserts = new WorkShare("bulk inserts and imports", Limits.MaxBulkInserts, Limits.MaxBulkInsertsPerClient);
        Streams = new WorkShare("streams", Limits.MaxStreams, Limits.MaxStreamsPerClient);
        Watchers = new WorkShare("looks at its activity", MaxWatchers, MaxWatchers);
        Queries = new QueryQueue(Limits, clock);
        Buffers = new BufferBudget(Limits.MaxBufferedBytes);
        Backups = new BackupService(this);
        SlowLog = options.SlowRequests is { } slow ? new SlowLog(loggers.CreateLogger(SlowLog.Category), slow, clock) : null;
        telemetry.Show("treepie.server.queries.running", "{query}", "Queries at work.", () => Queries.Running);
        telemetry.Show(
            "treepie.server.queries.waiting", "{query}", "Queries that wait for their first turn.", () => Queries.Queued);
        telemetry.Show("treepie.server.streams", "{stream}", "Streams and exports at work.", () => Streams.Taken);
        telemetry.Show(
            "treepie.server.bulk_inserts", "{request}", "Bulk inserts, imports and restores at work.", () => BulkInserts.Taken);
        telemetry.Show("treepie.server.buffered", "By", "Bytes of request bodies held in memory.", () => Buffers.HeldBytes);
        telemetry.Show(
            "treepie.server.databases", "{database}", "Databases there are, open or not.", () => Databases.Names.Count);
    }

    public TreepieServerOptions Options => options;

    public ServerLimits Limits => options.Limits;

    /// <summary>Places of requests that are to end soon.</summary>
    public WorkShare Requests { get; }

    /// <summary>Places of requests that bring documents as long as their client likes.</summary>
    public WorkShare BulkInserts { get; }

    /// <summary>Places of answers that last as long as their reader likes.</summary>
    public WorkShare Streams { get; }

    /// <summary>Places of those who watch what the server does.</summary>
    public WorkShare Watchers { get; }

    /// <summary>Places of queries that search or read their results.</summary>
    public QueryQueue Queries { get; }

    /// <summary>What bodies of requests may hold of the memory together.</summary>
    public BufferBudget Buffers { get; }

    /// <summary>
    /// The certificates of clients, and what is written down of them; null: somebody else's program decides who is let in.
    /// </summary>
    public AccessControl? Control { get; init; }

    public DatabaseGate Databases { get; }

    public ServerOperations Operations { get; }

    /// <summary>Backup tasks of the databases.</summary>
    public BackupService Backups { get; }

    public TimeProvider Clock => clock;

    public ILogger Logger => logger;

    public ServerTelemetry Telemetry => telemetry;

    /// <summary>The log of slow requests; null: there is none.</summary>
    public SlowLog? SlowLog { get; }

    /// <summary>Drawn at each start; clients only compare it.</summary>
    public Guid ServerId { get; } = Guid.NewGuid();
}
