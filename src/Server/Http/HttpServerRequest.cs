using System.IO.Pipelines;
using Microsoft.AspNetCore.Http.Extensions;
using Microsoft.AspNetCore.Http.Features;
using Treepie.Queries;
using Treepie.Server.Limits;

namespace Treepie.Server.Http;

/// <summary>A request received directly over HTTP.</summary>
internal sealed class HttpServerRequest : ServerRequest, IDisposable
{
    /// <summary>The maximum number of queries of a request that are recorded.</summary>
    private const int MostNotes = 8;

    private readonly long _startedAt;
    private CancellationTokenSource? _deadline;
    private CancellationToken _closing;
    private WorkShare.Place? _place;
    private QueryTurn? _turn;
    private List<(string Text, QueryResults? Results)>? _queries;

    public HttpServerRequest(RequestServices server, HttpContext http)
    {
        Services = server;
        Http = http;
        _startedAt = server.Clock.GetTimestamp();
        Client = ClientKey.Of(http);
        Output = new ResponseBody(http, server.Limits, server.Clock);
    }

    public HttpContext Http { get; }

    /// <summary>The client whose limits apply to the request.</summary>
    public ClientKey Client { get; }

    public override RequestServices Services { get; }

    public override ResponseBody Output { get; }

    public override string Url => Http.Request.GetEncodedPathAndQuery();

    public override string Method => Http.Request.Method;

    /// <summary>Whether the request was cancelled because it took too long.</summary>
    public bool IsOverdue =>
        _deadline is { IsCancellationRequested: true }
            && !Http.RequestAborted.IsCancellationRequested
            && !_closing.IsCancellationRequested;

    public override CancellationToken Aborted
    {
        get
        {
            if (_deadline is null)
            {
                // Created on first access: most requests are answered without waiting.
                _deadline = CancellationTokenSource.CreateLinkedTokenSource(Http.RequestAborted, _closing);
                TimeSpan left = Services.Limits.RequestTimeout - Elapsed;
                _deadline.CancelAfter(left > TimeSpan.Zero ? left : TimeSpan.Zero);
            }

            return _deadline.Token;
        }
    }

    public override int StatusCode
    {
        get => Http.Response.StatusCode;
        set => Http.Response.StatusCode = value;
    }

    /// <summary>Whether the database of the request is being deleted.</summary>
    public bool IsDatabaseClosing => _closing.IsCancellationRequested;

    protected override IQueryCollection Query =>
        Http.Request.QueryString.HasValue ? Http.Request.Query : QueryCollection.Empty;

    /// <summary>The time since the request began.</summary>
    public TimeSpan Elapsed => Services.Clock.GetElapsedTime(_startedAt);

    /// <summary>The first queries of the request, if the server logs slow requests.</summary>
    public IReadOnlyList<(string Text, QueryResults? Results)> Queries => _queries ?? [];

    public override void NoteQuery(string text, QueryResults? results)
    {
        if (Services.SlowLog is null)
            return;
        _queries ??= [];
        if (results is not null && _queries.Count > 0 && _queries[^1] is { Results: null } last && last.Text == text)
            _queries[^1] = (text, results);
        else if (_queries.Count < MostNotes)
            _queries.Add((text, results));
    }

    /// <summary>Cancels the request when the database closes. Must be called before <see cref="Aborted"/> is read.</summary>
    public void EndWith(CancellationToken databaseClosing) => _closing = databaseClosing;

    public override string? Header(string name) =>
        Http.Request.Headers.TryGetValue(name, out var values) ? values.ToString() : null;

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
            limit.MaxRequestBodySize = null; // counted here, so that the error names the limit

        if (request.ContentLength == 0)
            return RequestBody.Empty;

        return await ReadToEndAsync(request.BodyReader, request.ContentLength, maxBytes).ConfigureAwait(false);
    }

    /// <summary>Enters the limit of ordinary requests; called by the frame.</summary>
    public void Enter() => _place = Services.Requests.Enter(Client);

    /// <summary>
    /// Moves this request from the limit of ordinary requests to that of long work, which may last as long as the client
    /// wants. From now on it has no timeout of its own: it ends with the client, the database, or by the limits of that work.
    /// </summary>
    /// <exception cref="WireException">The limit of that work has been reached.</exception>
    public void BecomeLong(WorkShare share)
    {
        WorkShare.Place longer = share.Enter(Client);
        _place?.Dispose();
        _place = longer;
        _ = Aborted; // created now, so that its deadline can be removed
        _deadline?.CancelAfter(Timeout.InfiniteTimeSpan);
    }

    /// <summary>
    /// Same as <see cref="BecomeLong"/>, for streamed responses: limits the age of the request, because it holds a snapshot
    /// of its database.
    /// </summary>
    public void BecomeStream()
    {
        BecomeLong(Services.Streams);
        Output.EndAfter(Services.Limits.MaxStreamAge);
    }

    /// <summary>The turn of this request among queries; not taken initially.</summary>
    public override QueryTurn Turn => _turn ??= new QueryTurn(Services.Queries, Client, Services.Clock);

    /// <summary>Sends what is left of the response.</summary>
    public ValueTask CompleteAsync()
    {
        _turn?.Release();
        return Output.CompleteAsync();
    }

    public void Dispose()
    {
        _turn?.Dispose();
        Output.Dispose();
        _deadline?.Dispose();
        _place?.Dispose();
    }

    private async ValueTask<RequestBody> ReadToEndAsync(PipeReader reader, long? announced, long maxBytes)
    {
        var body = new RequestBody(Services.Buffers.Open());
        bool complete = false;
        try
        {
            while (!complete)
            {
                // What has arrived needs neither a deadline nor a wait.
                if (!reader.TryReadBody(out ReadResult read))
                    read = await reader.ReadOrCancelAsync(Aborted).ConfigureAwait(false);
                try
                {
                    if (body.Length + read.Buffer.Length > maxBytes)
                        throw TooLarge(maxBytes, announced);
                    body.Append(read.Buffer, announced);
                }
                finally
                {
                    // also after an error: an unfinished read would prevent draining the request after the response
                    reader.AdvanceTo(read.Buffer.End);
                }

                complete = read.IsCompleted;
            }

            return body;
        }
        catch
        {
            body.Dispose();
            throw;
        }
    }

    private static WireException TooLarge(long maxBytes, long? announced) =>
        WireException.TooLarge(announced is null
            ? $"The request body is longer than the {maxBytes:N0} bytes allowed here. Nothing was changed."
            : $"The request body has {announced:N0} bytes; {maxBytes:N0} are allowed here. Nothing was changed.");
}
