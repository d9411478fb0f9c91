using OpenTelemetry;
using OpenTelemetry.Metrics;
using OpenTelemetry.Trace;
using Treepie.Extensions.Hosting;

namespace Shop;

/// <summary>
/// A shop as a minimal API: two databases, sessions by dependency injection, transactions, search, health, telemetry.
/// </summary>
public static class ShopProgram
{
    public static async Task Main(string[] arguments)
    {
        await using WebApplication shop = Build(WebApplication.CreateBuilder(arguments));
        await shop.RunAsync();
    }

    /// <summary>The program; tests give a builder whose configuration says <c>Shop:InMemory</c>.</summary>
    public static WebApplication Build(WebApplicationBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        IConfigurationSection settings = builder.Configuration.GetSection("Shop");
        bool inMemory = settings.GetValue<bool>("InMemory");
        string data = settings["Data"] ?? "data";
        builder.Services.AddTreepieDatabase(options => Configure(options, "shop"));
        builder.Services.AddKeyedTreepieDatabase("log", options => Configure(options, "log"));
        builder.Services.AddHealthChecks().AddTreepie().AddTreepie("log", "log");
        builder.Services.AddSingleton(TimeProvider.System);

        // Traces and metrics of requests and, by the name "Treepie", of what the databases do for them.
        OpenTelemetryBuilder telemetry = builder.Services.AddOpenTelemetry()
            .WithTracing(static traces => traces.AddAspNetCoreInstrumentation().AddSource("Treepie"))
            .WithMetrics(static metrics => metrics.AddAspNetCoreInstrumentation().AddMeter("Treepie"));
        if (!string.IsNullOrEmpty(builder.Configuration["OTEL_EXPORTER_OTLP_ENDPOINT"]))
            telemetry.UseOtlpExporter();

        WebApplication shop = builder.Build();
        shop.MapShop();
        return shop;

        // Its name says in traces which database it is, also where both are in memory.
        void Configure(TreepieHostingOptions options, string name)
        {
            options.Path = Path.Combine(data, name);
            options.InMemory = inMemory;
            options.Database = options.Database with { Name = name };
        }
    }
}
