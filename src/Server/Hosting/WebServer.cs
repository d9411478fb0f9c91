using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Treepie.Encryption;
using Treepie.Server.Databases;
using Treepie.Server.Endpoints;
using Treepie.Server.Security;
using Treepie.Server.Telemetry;

namespace Treepie.Server.Hosting;

/// <summary>
/// Builds the web server: only Kestrel, the guards and the API, because every part of ASP.NET Core costs startup time.
/// </summary>
internal static class WebServer
{
    /// <summary>The number of connections over the limit that may be open until they are closed.</summary>
    private const int MostAboutToClose = 16;

    /// <summary>
    /// The number of files needed to open a database with some indexes, including those of other activity meanwhile.
    /// </summary>
    private const int FilesOfOneMore = 64;

    public static WebApplication Build(
        ProgramOptions options, string directory, IReadOnlyList<BindAddress> addresses, ILoggerProvider? log = null)
    {
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(
            new WebApplicationOptions { ApplicationName = "Treepie.Server" });
        var level = new LogSwitch();
        builder.Services.AddSingleton(level);
        builder.Logging.AddFilter(level.Lets);
        // what operators do is logged whatever they set
        builder.Logging.AddFilter(AuditLog.Category, LogLevel.Information);
        // Kestrel warns about each connection beyond the limit, so a client could fill the disk with log messages; their number
        // is among the metrics.
        builder.Logging.AddFilter("Microsoft.AspNetCore.Server.Kestrel.Connections", LogLevel.Error);
        // An enabled log of requests, even one of warnings only, costs an activity and a scope for each request. Tracing creates
        // activities without it.
        builder.Logging.AddFilter("Microsoft.AspNetCore.Hosting.Diagnostics", LogLevel.None);
        if (log is null)
            builder.Logging.AddSimpleConsole(static console => console.SingleLine = true);
        else
            builder.Logging.AddProvider(log);
        builder.Services.Configure<Microsoft.Extensions.Logging.Console.ConsoleLoggerOptions>(
            // standard output is read by programs
            static console => console.LogToStandardErrorThreshold = LogLevel.Trace);
        var settings = new TreepieServerOptions();
        foreach ((LimitOption limit, decimal value) in options.Limits)
            limit.Set(settings, value);
        KeepThreads(settings.Limits);
        builder.Services.AddSingleton(
            provider => ServerSecurity.Open(
                options, directory, settings.Database.TimeProvider, provider.GetRequiredService<ILoggerFactory>()));
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel => Configure(kestrel, addresses, settings.Limits));
        builder.Services.Replace(ServiceDescriptor.Singleton<IConnectionListenerFactory>(services => new PacedListeners(
            new SocketTransportFactory(
                services.GetRequiredService<IOptions<SocketTransportOptions>>(), services.GetRequiredService<ILoggerFactory>()),
            MostConnections(settings.Limits) + MostAboutToClose)));
        builder.Services.AddTreepie(treepie =>
        {
            treepie.DataDirectory = directory;
            treepie.PublicUrl = options.PublicUrl;
            treepie.SlowRequests = options.SlowRequests;
            treepie.Keys = new DatabaseKeySources
            {
                MasterKey = options.MasterKey,
                OfDatabases = options.DatabaseKeys.Reverse()
                    .DistinctBy(key => key.Database, StringComparer.OrdinalIgnoreCase)
                    .ToDictionary(key => key.Database, key => key.Source),
            };
            foreach ((string name, string place) in options.BackupFolders)
                treepie.BackupFolders[name] = place;
            foreach (Uri endpoint in options.S3Endpoints)
                treepie.S3Endpoints.Add(endpoint);
            foreach ((string name, KeySource source) in options.KeySources)
                treepie.KeySources[name] = source;
            treepie.Database = settings.Database;
            treepie.Limits = settings.Limits;
        });
        Observability.Add(builder.Services, options);
        return builder.Build();
    }

    public static void Map(WebApplication app, ProgramOptions options)
    {
        ServerSecurity security = app.Services.GetRequiredService<ServerSecurity>();
        app.UseMiddleware<OriginGuard>(security.Names);
        app.UseRouting();
        app.UseMiddleware<AccessGuard>(security.Control);
        Observability.Map(app, options);
        TreepieServices services = app.Services.GetRequiredService<TreepieServices>();
        ServerContext context = services.CreateContext(new CatalogSource(services.Catalog), security.Control);
        var listeners = (PacedListeners)app.Services.GetRequiredService<IConnectionListenerFactory>();
        long mostFiles = OpenFiles.Limit();
        var idle = new IdleDatabases(
            context.Databases, context.Limits.DatabaseIdleTimeout, context.Clock,
            () => OpenFiles.Count() + listeners.PlacesLeft + FilesOfOneMore > mostFiles);
        app.Lifetime.ApplicationStopping.Register(idle.Dispose);
        AllEndpoints.Map(app, context, alone: true);
    }

    /// <summary>
    /// Queries run on thread pool threads, and the pool adds threads slowly. Raises the minimum so that there is a thread for
    /// every concurrent query and some for other work, which then never waits for a query.
    /// </summary>
    private static void KeepThreads(ServerLimits limits)
    {
        const int MostAtOnce = 256;
        ThreadPool.GetMinThreads(out int workers, out int completions);
        int wanted = Math.Min(limits.MaxQueries, MostAtOnce) + (2 * Environment.ProcessorCount);
        ThreadPool.SetMinThreads(Math.Max(workers, wanted), completions);
    }

    private static int MostConnections(ServerLimits limits) => ConnectionLimit.MostOf(limits.MaxConnections, OpenFiles.Limit());

    private static void Configure(KestrelServerOptions kestrel, IReadOnlyList<BindAddress> addresses, ServerLimits limits)
    {
        // the data that a connection may send before it is read; must be acceptable for thousands of connections
        const int RequestBufferBytes = 128 * 1024;
        kestrel.AddServerHeader = false;
        kestrel.Limits.MaxConcurrentConnections = MostConnections(limits);
        kestrel.Limits.KeepAliveTimeout = limits.ConnectionIdleTimeout;
        kestrel.Limits.RequestHeadersTimeout = limits.RequestHeadersTimeout;
        kestrel.Limits.MaxRequestBufferSize = RequestBufferBytes;
        ServerCertificate? certificate = kestrel.ApplicationServices.GetRequiredService<ServerSecurity>().Certificate;
        foreach (BindAddress address in addresses)
            Listen(kestrel, address, certificate);
    }

    private static void Listen(KestrelServerOptions kestrel, BindAddress address, ServerCertificate? certificate)
    {
        void Configure(ListenOptions listen)
        {
            if (address.IsTls && certificate is not null)
                listen.UseTls(certificate);
        }

        if (address.Address is not null)
            kestrel.Listen(address.Address, address.Port, Configure);
        else if (address.Port == 0)
            // the same free port is hardly ever available on both loopback addresses
            kestrel.Listen(System.Net.IPAddress.Loopback, 0, Configure);
        else
            kestrel.ListenLocalhost(address.Port, Configure);
    }
}
