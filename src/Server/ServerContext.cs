using Treepie.Server.Backups;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Server.Limits;
using Treepie.Server.Operations;
using Treepie.Server.Security;
using Treepie.Server.Telemetry;

namespace Treepie.Server;

/// <summary>The state shared by the endpoints of one mapping of the API. Thread-safe.</summary>
internal sealed class ServerContext : RequestServices
{
    /// <summary>The limit on watchers: each of them is notified of every write and query.</summary>
    private const int MaxWatchers = 16;

    public ServerContext(
        IDatabaseSource source, TreepieServerOptions options, TimeProvider clock, ILoggerFactory loggers,
        ServerTelemetry telemetry)
        : base(source, options.Limits, options.SlowRequests, clock, loggers, telemetry)
    {
        Options = options;
        Operations = new ServerOperations(Limits.MaxRememberedOperations);
        BulkInserts = new WorkShare("bulk inserts and imports", Limits.MaxBulkInserts, Limits.MaxBulkInsertsPerClient);
        Watchers = new WorkShare("looks at its activity", MaxWatchers, MaxWatchers);
        Backups = new BackupService(this, Operations, options);
        telemetry.Show(
            "treepie.server.bulk_inserts", "{request}", "Bulk inserts, imports and restores at work.", () => BulkInserts.Taken);
    }

    public TreepieServerOptions Options { get; }

    /// <summary>Limits requests that send an unlimited number of documents.</summary>
    public WorkShare BulkInserts { get; }

    /// <summary>Limits requests that watch the activity of the server.</summary>
    public WorkShare Watchers { get; }

    /// <summary>Client certificates and tokens, and the audit log; null if there are none.</summary>
    public AccessControl? Control { get; init; }

    /// <summary>The level of the stand-alone server's log; null in other applications, whose log it is.</summary>
    public LogSwitch? Log { get; init; }

    /// <inheritdoc/>
    public override bool KnowsCallers => Control?.Certificates is not null;

    public ServerOperations Operations { get; }

    public BackupService Backups { get; }

    /// <summary>Generated at each start; clients only compare it.</summary>
    public Guid ServerId { get; } = Guid.NewGuid();
}
