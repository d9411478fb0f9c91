using Treepie.Server.Backups;
using Treepie.Server.Databases;
using Treepie.Server.Operations;
using Treepie.Server.Telemetry;

namespace Treepie.Server;

/// <summary>What every endpoint of one mapping of the API shares. Thread-safe.</summary>
internal sealed class ServerContext
{
    private readonly TreepieServerOptions options;
    private readonly TimeProvider clock;
    private readonly ILogger logger;
    private readonly ServerTelemetry telemetry;

    public ServerContext(IDatabaseSource source, TreepieServerOptions options, TimeProvider clock, ILogger logger, ServerTelemetry telemetry)
    {
        this.options = options;
        this.clock = clock;
        this.logger = logger;
        this.telemetry = telemetry;
        Databases = new DatabaseGate(source);
        Operations = new OperationRegistry(options.MaxRememberedOperations);
        Backups = new BackupService(this);
    }

    public TreepieServerOptions Options => options;

    public DatabaseGate Databases { get; }

    public OperationRegistry Operations { get; }

    /// <summary>Backup tasks of the databases.</summary>
    public BackupService Backups { get; }

    public TimeProvider Clock => clock;

    public ILogger Logger => logger;

    public ServerTelemetry Telemetry => telemetry;

    /// <summary>Drawn at each start; clients only compare it.</summary>
    public Guid ServerId { get; } = Guid.NewGuid();
}
