using System.Collections.Concurrent;
using System.Globalization;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

namespace Treepie.Bench.Suites.Backups;

/// <summary>
/// As little of the S3 protocol as an upload needs, in this process: takes what comes at the rate of a network, keeps nothing of
/// it, and answers. So the figure is that of the one who uploads, and of a link as places for backups have it; what a link of
/// loopback would show is that of two processes on the same cores.
/// </summary>
internal sealed class S3Sink : IAsyncDisposable
{
    private static readonly TimeSpan _tick = TimeSpan.FromMilliseconds(1);

    private readonly WebApplication _app;
    private readonly double _bytesPerSecond;
    private readonly ConcurrentDictionary<string, long> _objects = new();
    private readonly Lock _lock = new();
    private long _freeAt;

    private S3Sink(WebApplication app, double bitsPerSecond)
    {
        _app = app;
        _bytesPerSecond = bitsPerSecond / 8;
    }

    /// <summary>Bytes it took.</summary>
    public long Taken { get; private set; }

    public string Url => _app.Urls.First();

    /// <summary>Begins to take what comes at the rate of a link.</summary>
    public static async Task<S3Sink> StartAsync(double bitsPerSecond)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.WebHost.ConfigureKestrel(static kestrel => kestrel.Limits.MaxRequestBodySize = null);
        WebApplication app = builder.Build();
        var sink = new S3Sink(app, bitsPerSecond);
        app.Run(sink.AnswerAsync);
        await app.StartAsync();
        return sink;
    }

    public async ValueTask DisposeAsync()
    {
        await _app.StopAsync();
        await _app.DisposeAsync();
    }

    private async Task AnswerAsync(HttpContext context)
    {
        HttpRequest request = context.Request;
        long length = await TakeAsync(request, context.RequestAborted);
        string name = request.Path.Value ?? "";
        switch (request.Method)
        {
            case "GET":
                await context.Response.WriteAsync("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>");
                break;
            case "POST" when request.Query.ContainsKey("uploads"):
                await context.Response.WriteAsync(
                    "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>");
                break;
            case "POST":
                await context.Response.WriteAsync(
                    "<CompleteMultipartUploadResult><ETag>\"1\"</ETag></CompleteMultipartUploadResult>");
                break;
            case "PUT":
                _objects.AddOrUpdate(name, length, (_, before) => before + length);
                context.Response.Headers.ETag = string.Create(CultureInfo.InvariantCulture, $"\"{request.Query["partNumber"]}\"");
                break;
            default:
                context.Response.StatusCode = StatusCodes.Status204NoContent;
                break;
        }
    }

    private async Task<long> TakeAsync(HttpRequest request, CancellationToken cancellationToken)
    {
        long length = 0;
        while (true)
        {
            System.IO.Pipelines.ReadResult read = await request.BodyReader.ReadAsync(cancellationToken);
            length += read.Buffer.Length;
            await WaitForLinkAsync(read.Buffer.Length, cancellationToken);
            request.BodyReader.AdvanceTo(read.Buffer.End);
            if (read.IsCompleted)
                return length;
        }
    }

    /// <summary>The link is one for all connections: bytes have gone through when those before them have.</summary>
    private async Task WaitForLinkAsync(long bytes, CancellationToken cancellationToken)
    {
        long through;
        lock (_lock)
        {
            Taken += bytes;
            _freeAt = Math.Max(_freeAt, System.Diagnostics.Stopwatch.GetTimestamp())
                + (long)(bytes / _bytesPerSecond * System.Diagnostics.Stopwatch.Frequency);
            through = _freeAt;
        }

        TimeSpan left = System.Diagnostics.Stopwatch.GetElapsedTime(System.Diagnostics.Stopwatch.GetTimestamp(), through);
        if (left > _tick)
            await Task.Delay(left, cancellationToken);
    }
}
