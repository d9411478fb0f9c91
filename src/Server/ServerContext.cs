using Treepie.Server.Databases;
using Treepie.Server.Operations;
using Treepie.Server.Telemetry;

namespace Treepie.Server;

/// <summary>What every endpoint of one mapping of the API shares. Thread-safe.</summary>
internal sealed class ServerContext(
    IDatabaseSource source, TreepieServerOptions options, TimeProvider clock, ILogger logger, ServerTelemetry telemetry)
{
    public TreepieServerOptions Options => options;

    public DatabaseGate Databases { get; } = new(source);

    public OperationRegistry Operations { get; } = new(options.MaxRememberedOperations);

    public TimeProvider Clock => clock;

    public ILogger Logger => logger;

    public ServerTelemetry Telemetry => telemetry;

    /// <summary>Drawn at each start; clients only compare it.</summary>
    public Guid ServerId { get; } = Guid.NewGuid();
}
