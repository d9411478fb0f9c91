using System.Collections.Concurrent;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Logging;

namespace Treepie.Server.Tests.Support;

/// <summary>A collector that keeps what is sent to it by OTLP over HTTP.</summary>
internal sealed class OtlpReceiver : IAsyncDisposable
{
    private readonly WebApplication _app;
    private readonly ConcurrentQueue<(string Path, byte[] Body)> _received = [];

    private OtlpReceiver()
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Logging.ClearProviders();
        _app = builder.Build();
        _app.Run(async http =>
        {
            using var body = new MemoryStream();
            await http.Request.Body.CopyToAsync(body);
            _received.Enqueue((http.Request.Path.Value ?? "", body.ToArray()));
            http.Response.ContentType = "application/x-protobuf";
        });
    }

    public string Url => _app.Urls.Single();

    /// <summary>All spans it was sent.</summary>
    public IReadOnlyList<OtlpSpan> Spans =>
    [
        .. from export in _received
           where export.Path == "/v1/traces"
           from resource in OtlpSpan.Fields(export.Body, 1)
           from scope in OtlpSpan.Fields(resource, 2)
           from span in OtlpSpan.Fields(scope, 2)
           select OtlpSpan.Read(span)
    ];

    /// <summary>Names of all metrics it was sent.</summary>
    public IReadOnlyList<string> Metrics =>
    [
        .. from export in _received
           where export.Path == "/v1/metrics"
           from resource in OtlpSpan.Fields(export.Body, 1)
           from scope in OtlpSpan.Fields(resource, 2)
           from metric in OtlpSpan.Fields(scope, 2)
           from name in OtlpSpan.Fields(metric, 1)
           select System.Text.Encoding.UTF8.GetString(name)
    ];

    public static async Task<OtlpReceiver> StartAsync()
    {
        var receiver = new OtlpReceiver();
        await receiver._app.StartAsync(TestContext.Current.CancellationToken);
        return receiver;
    }

    public ValueTask DisposeAsync() => _app.DisposeAsync();
}
