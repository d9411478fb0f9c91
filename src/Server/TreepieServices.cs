using Microsoft.Extensions.Logging.Abstractions;
using Treepie.Server.Databases;
using Treepie.Server.Security;
using Treepie.Server.Telemetry;

namespace Treepie.Server;

/// <summary>What <c>AddTreepie</c> registers: options, and the catalogue, which opens at first use.</summary>
internal sealed class TreepieServices(TreepieServerOptions options, IServiceProvider provider) : IDisposable
{
    private readonly Lazy<DatabaseCatalog> _catalog = new(
        () => new DatabaseCatalog(options.DataDirectory, options.Database, options.Keys));
    private readonly ServerTelemetry _telemetry = new();
    private readonly List<ServerContext> _contexts = [];

    /// <summary>Disposed by the container, which hands it out as a service of its own once this has made it.</summary>
    public DatabaseCatalog Catalog => _catalog.Value;

    /// <summary>All mappings so far; none is added once the program has started.</summary>
    public IReadOnlyList<ServerContext> Contexts => _contexts;

    /// <summary>What one mapping of the API over these databases shares.</summary>
    /// <param name="source">Where it finds its databases.</param>
    /// <param name="control">By what the server's own guard decides; null: it has none, in somebody else's program.</param>
    public ServerContext CreateContext(IDatabaseSource source, AccessControl? control = null)
    {
        ILoggerFactory loggers = provider.GetService<ILoggerFactory>() ?? NullLoggerFactory.Instance;
        var context = new ServerContext(source, options, options.Database.TimeProvider, loggers, _telemetry)
        {
            Control = control,
            Stopping = provider.GetService<IHostApplicationLifetime>()?.ApplicationStopping ?? CancellationToken.None,
        };
        _contexts.Add(context);
        return context;
    }

    public void Dispose() => _telemetry.Dispose();
}
