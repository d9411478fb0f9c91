using System.Runtime.CompilerServices;
using OpenTelemetry;
using OpenTelemetry.Exporter;
using OpenTelemetry.Metrics;
using OpenTelemetry.Resources;
using OpenTelemetry.Trace;
using Treepie.Server.Security;
using Treepie.Server.Telemetry;

namespace Treepie.Server.Hosting;

/// <summary>
/// Exports metrics and traces if requested on the command line. Otherwise none of the exporters is loaded, and recording a
/// measurement only checks a flag.
/// </summary>
internal static class Observability
{
    private const string ServiceName = "treepie";

    /// <summary>The standard environment variable of OpenTelemetry that selects which requests are traced.</summary>
    private const string SamplerVariable = "OTEL_TRACES_SAMPLER";

    private static readonly string[] _meters =
        [ServerTelemetry.DatabaseMeterName, ServerTelemetry.MeterName, "Microsoft.AspNetCore.Hosting",
            "Microsoft.AspNetCore.Server.Kestrel", "System.Runtime"];

    public static void Add(IServiceCollection services, ProgramOptions options)
    {
        if (options.Metrics || options.OtlpEndpoint is not null)
            AddExporters(services, options);
    }

    /// <summary>
    /// Maps the metrics page. It contains the names and the usage of databases, so it requires operator access.
    /// </summary>
    public static void Map(WebApplication app, ProgramOptions options)
    {
        if (options.Metrics)
            MapPage(app);
    }

    // A separate method: calling a method that uses a type loads its assembly, which takes time and open files.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void AddExporters(IServiceCollection services, ProgramOptions options)
    {
        OpenTelemetryBuilder builder = services.AddOpenTelemetry()
            .ConfigureResource(static resource => resource.AddService(ServiceName, serviceVersion: ProductVersion.Own))
            .WithMetrics(metrics =>
            {
                metrics.AddMeter(_meters);
                if (options.Metrics)
                    metrics.AddPrometheusExporter();
                if (options.OtlpEndpoint is { } endpoint)
                    metrics.AddOtlpExporter(otlp => SendTo(otlp, endpoint, "v1/metrics"));
            });
        if (options.OtlpEndpoint is not { } to)
            return;

        builder.WithTracing(traces =>
        {
            traces.AddSource(ServerTelemetry.DatabaseMeterName).AddAspNetCoreInstrumentation();
            // Tracing every request would cost more than many requests do; by default only those are traced whose client
            // does.
            if (string.IsNullOrEmpty(Environment.GetEnvironmentVariable(SamplerVariable)))
                traces.SetSampler(new ParentBasedSampler(new AlwaysOffSampler()));
            traces.AddOtlpExporter(otlp => SendTo(otlp, to, "v1/traces"));
        });
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void MapPage(WebApplication app) =>
        app.MapPrometheusScrapingEndpoint("/metrics").WithMetadata(new RequiredAccess(AccessLevel.Operator));

    private static void SendTo(OtlpExporterOptions otlp, Uri endpoint, string path)
    {
        otlp.Protocol = OtlpExportProtocol.HttpProtobuf;
        otlp.Endpoint = new Uri(endpoint.AbsoluteUri.TrimEnd('/') + "/" + path);
    }
}
