using Microsoft.Extensions.Logging.Abstractions;
using Treepie.Server.Databases;
using Treepie.Server.Security;
using Treepie.Server.Telemetry;

namespace Treepie.Server;

/// <summary>
/// The services registered by <c>AddTreepie</c>: the options, and the catalogue, which is opened on first use.
/// </summary>
internal sealed class TreepieServices(TreepieServerOptions options, IServiceProvider provider) : IDisposable
{
    private readonly Lazy<DatabaseCatalog> _catalog = new(
        () => new DatabaseCatalog(options.DataDirectory, options.Database, options.Keys));
    private readonly ServerTelemetry _telemetry = new();
    private readonly List<ServerContext> _contexts = [];

    /// <summary>The catalogue; registered as a service of its own, so that the container disposes it.</summary>
    public DatabaseCatalog Catalog => _catalog.Value;

    /// <summary>All mappings of the API; complete once the program has started.</summary>
    public IReadOnlyList<ServerContext> Contexts => _contexts;

    /// <summary>Creates the shared state of one mapping of the API.</summary>
    /// <param name="source">Provides the databases.</param>
    /// <param name="control">The access control of the stand-alone server; null in other applications.</param>
    public ServerContext CreateContext(IDatabaseSource source, AccessControl? control = null)
    {
        ILoggerFactory loggers = provider.GetService<ILoggerFactory>() ?? NullLoggerFactory.Instance;
        var context = new ServerContext(source, options, options.Database.TimeProvider, loggers, _telemetry)
        {
            Control = control,
            Log = provider.GetService<LogSwitch>(),
            Stopping = provider.GetService<IHostApplicationLifetime>()?.ApplicationStopping ?? CancellationToken.None,
        };
        _contexts.Add(context);
        return context;
    }

    public void Dispose() => _telemetry.Dispose();
}
