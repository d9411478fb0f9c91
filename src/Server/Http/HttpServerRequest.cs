using System.Buffers;
using System.IO.Pipelines;
using Microsoft.AspNetCore.Http.Extensions;
using Microsoft.AspNetCore.Http.Features;

namespace Treepie.Server.Http;

/// <summary>A request that came over a connection of its own.</summary>
internal sealed class HttpServerRequest : ServerRequest, IDisposable
{
    private readonly long startedAt;
    private CancellationTokenSource? deadline;
    private CancellationToken closing;

    public HttpServerRequest(ServerContext server, HttpContext http)
    {
        Server = server;
        Http = http;
        startedAt = server.Clock.GetTimestamp();
        Output = new ResponseBody(http.Response.BodyWriter);
    }

    public HttpContext Http { get; }

    public override ServerContext Server { get; }

    public override ResponseBody Output { get; }

    public override string Url => Http.Request.GetEncodedPathAndQuery();

    public override string Method => Http.Request.Method;

    /// <summary>Whether the time for this request is what cancelled it.</summary>
    public bool IsOverdue => deadline is { IsCancellationRequested: true } && !Http.RequestAborted.IsCancellationRequested && !closing.IsCancellationRequested;

    public override CancellationToken Aborted
    {
        get
        {
            if (deadline is null)
            {
                // Made when first asked for: most requests are answered before anything waits.
                deadline = CancellationTokenSource.CreateLinkedTokenSource(Http.RequestAborted, closing);
                TimeSpan left = Server.Options.RequestTimeout - Server.Clock.GetElapsedTime(startedAt);
                deadline.CancelAfter(left > TimeSpan.Zero ? left : TimeSpan.Zero);
            }

            return deadline.Token;
        }
    }

    public override int StatusCode
    {
        get => Http.Response.StatusCode;
        set => Http.Response.StatusCode = value;
    }

    /// <summary>Whether the database this request is in is being deleted.</summary>
    public bool IsDatabaseClosing => closing.IsCancellationRequested;

    protected override IQueryCollection Query => Http.Request.Query;

    /// <summary>Also ends this request when the database closes. To be called before <see cref="Aborted"/> is read.</summary>
    public void EndWith(CancellationToken databaseClosing) => closing = databaseClosing;

    /// <summary>For streams that may last: from here on only the caller and the database end the request.</summary>
    public void WithoutDeadline()
    {
        CancellationToken made = Aborted;
        _ = made;
        deadline?.CancelAfter(Timeout.InfiniteTimeSpan);
    }

    public override string? Header(string name) => Http.Request.Headers.TryGetValue(name, out var values) ? values.ToString() : null;

    public override void SetHeader(string name, string value) => Http.Response.Headers[name] = value;

    protected override void BeginJson(int statusCode)
    {
        HttpResponse response = Http.Response;
        response.StatusCode = statusCode;
        response.ContentType = "application/json; charset=utf-8";
    }

    public override void EndEmpty(int statusCode)
    {
        HttpResponse response = Http.Response;
        response.StatusCode = statusCode;
        if (statusCode is not (StatusCodes.Status204NoContent or StatusCodes.Status304NotModified) && !HttpMethods.IsHead(Method))
            response.ContentLength = 0;
    }

    public override async ValueTask<RequestBody> ReadBodyAsync(long maxBytes)
    {
        HttpRequest request = Http.Request;
        if (request.ContentLength is { } announced && announced > maxBytes)
            throw TooLarge(maxBytes, announced);

        if (Http.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } limit)
            limit.MaxRequestBodySize = null; // counted here, for an answer that says which limit it was

        if (request.ContentLength == 0)
            return RequestBody.Empty;

        return await ReadToEndAsync(request.BodyReader, request.ContentLength, maxBytes).ConfigureAwait(false);
    }

    public void Dispose() => deadline?.Dispose();

    private async ValueTask<RequestBody> ReadToEndAsync(PipeReader reader, long? announced, long maxBytes)
    {
        const int firstGuessBytes = 4 * 1024;
        byte[] buffer = ArrayPool<byte>.Shared.Rent((int)(announced ?? firstGuessBytes));
        int length = 0;
        bool complete = false;
        try
        {
            while (!complete)
            {
                ReadResult read = await reader.ReadOrCancelAsync(Aborted).ConfigureAwait(false);
                if (length + read.Buffer.Length > maxBytes)
                {
                    reader.AdvanceTo(read.Buffer.End);
                    throw TooLarge(maxBytes, announced);
                }

                int piece = (int)read.Buffer.Length;
                if (length + piece > buffer.Length)
                    buffer = Grow(buffer, length, length + piece);

                read.Buffer.CopyTo(buffer.AsSpan(length));
                length += piece;
                reader.AdvanceTo(read.Buffer.End);
                complete = read.IsCompleted;
            }

            return new RequestBody(buffer, length, pooled: true);
        }
        catch
        {
            ArrayPool<byte>.Shared.Return(buffer);
            throw;
        }
    }

    private static byte[] Grow(byte[] buffer, int used, int needed)
    {
        byte[] larger = ArrayPool<byte>.Shared.Rent((int)Math.Min(Math.Max(needed, buffer.Length * 2L), Array.MaxLength));
        buffer.AsSpan(0, used).CopyTo(larger);
        ArrayPool<byte>.Shared.Return(buffer);
        return larger;
    }

    private static WireException TooLarge(long maxBytes, long? announced) =>
        WireException.TooLarge(announced is null
            ? $"The request body is longer than the {maxBytes:N0} bytes allowed here. Nothing was changed."
            : $"The request body has {announced:N0} bytes; {maxBytes:N0} are allowed here. Nothing was changed.");
}
