using Microsoft.AspNetCore.Server.Kestrel.Core;
using Treepie.Encryption;
using Treepie.Server.Databases;
using Treepie.Server.Endpoints;
using Treepie.Server.Security;

namespace Treepie.Server.Hosting;

/// <summary>Kestrel, the guard, and the API: no more of ASP.NET than that, because every part costs time at the start.</summary>
internal static class WebServer
{
    public static WebApplication Build(ProgramOptions options, string directory, IReadOnlyList<BindAddress> addresses)
    {
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions { ApplicationName = "Treepie.Server" });
        builder.Logging.SetMinimumLevel(LogLevel.Warning);
        builder.Logging.AddSimpleConsole(static console => console.SingleLine = true);
        builder.Services.Configure<Microsoft.Extensions.Logging.Console.ConsoleLoggerOptions>(
            static console => console.LogToStandardErrorThreshold = LogLevel.Trace); // what it prints on standard output is for programs to read
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel => Configure(kestrel, addresses));
        builder.Services.AddTreepie(treepie =>
        {
            treepie.DataDirectory = directory;
            treepie.Keys = new DatabaseKeySources
            {
                MasterKey = options.MasterKey,
                OfDatabases = options.DatabaseKeys.Reverse().DistinctBy(key => key.Database, StringComparer.OrdinalIgnoreCase).ToDictionary(key => key.Database, key => key.Source),
            };
            foreach ((LimitOption limit, decimal value) in options.Limits)
                limit.Set(treepie, value);
        });
        return builder.Build();
    }

    public static void Map(WebApplication app)
    {
        app.UseMiddleware<LoopbackGuard>();
        app.UseRouting();
        TreepieServices services = app.Services.GetRequiredService<TreepieServices>();
        AllEndpoints.Map(app, services.CreateContext(new CatalogSource(services.Catalog)), alone: true);
    }

    private static void Configure(KestrelServerOptions kestrel, IReadOnlyList<BindAddress> addresses)
    {
        kestrel.AddServerHeader = false;
        foreach (BindAddress address in addresses)
        {
            if (address.Address is not null)
                kestrel.Listen(address.Address, address.Port);
            else if (address.Port == 0)
                kestrel.Listen(System.Net.IPAddress.Loopback, 0); // one free port is hardly free on both loopback addresses
            else
                kestrel.ListenLocalhost(address.Port);
        }
    }
}
