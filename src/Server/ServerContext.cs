using Treepie.Server.Backups;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Server.Limits;
using Treepie.Server.Operations;
using Treepie.Server.Security;
using Treepie.Server.Telemetry;

namespace Treepie.Server;

/// <summary>What the endpoints of one mapping of the API share. Thread-safe.</summary>
internal sealed class ServerContext : RequestServices
{
    /// <summary>Each of them hears of every write and query.</summary>
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

    /// <summary>Places of requests that bring documents as long as their client likes.</summary>
    public WorkShare BulkInserts { get; }

    /// <summary>Places of those who watch what the server does.</summary>
    public WorkShare Watchers { get; }

    /// <summary>The certificates of clients, and what is written down of them; null: there are none.</summary>
    public AccessControl? Control { get; init; }

    /// <inheritdoc/>
    public override bool KnowsCallers => Control?.Certificates is not null;

    public ServerOperations Operations { get; }

    /// <summary>Backup tasks of the databases.</summary>
    public BackupService Backups { get; }

    /// <summary>Drawn at each start; clients only compare it.</summary>
    public Guid ServerId { get; } = Guid.NewGuid();
}
