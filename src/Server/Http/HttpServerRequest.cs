using System.IO.Pipelines;
using Microsoft.AspNetCore.Http.Extensions;
using Microsoft.AspNetCore.Http.Features;
using Treepie.Queries;
using Treepie.Server.Limits;

namespace Treepie.Server.Http;

/// <summary>A request that came over a connection of its own.</summary>
internal sealed class HttpServerRequest : ServerRequest, IDisposable
{
    /// <summary>Most queries of a request that are remembered.</summary>
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
        Output = new ResponseBody(http.Response.BodyWriter, server.Limits, server.Clock, http.Abort);
    }

    public HttpContext Http { get; }

    /// <summary>Whom the request counts for.</summary>
    public ClientKey Client { get; }

    public override RequestServices Services { get; }

    public override ResponseBody Output { get; }

    public override string Url => Http.Request.GetEncodedPathAndQuery();

    public override string Method => Http.Request.Method;

    /// <summary>Whether the time for this request is what cancelled it.</summary>
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
                // Made when first asked for: most requests are answered before anything waits.
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

    /// <summary>Whether the database this request is in is being deleted.</summary>
    public bool IsDatabaseClosing => _closing.IsCancellationRequested;

    protected override IQueryCollection Query => Http.Request.Query;

    /// <summary>Since it began.</summary>
    public TimeSpan Elapsed => Services.Clock.GetElapsedTime(_startedAt);

    /// <summary>The first queries it ran, where the server logs slow requests.</summary>
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

    /// <summary>Also ends this request when the database closes. To be called before <see cref="Aborted"/> is read.</summary>
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
            limit.MaxRequestBodySize = null; // counted here, for an answer that says which limit it was

        if (request.ContentLength == 0)
            return RequestBody.Empty;

        return await ReadToEndAsync(request.BodyReader, request.ContentLength, maxBytes).ConfigureAwait(false);
    }

    /// <summary>Takes a place among requests that are to end soon; the frame calls it.</summary>
    public void Enter() => _place = Services.Requests.Enter(Client);

    /// <summary>
    /// Counts this request among work that lasts as long as its client likes, which has limits of its own, and no longer
    /// among requests that end soon.
    /// From here on only the caller, the database and the limits of that work end it.
    /// </summary>
    /// <exception cref="WireException">There is no place for more of that work.</exception>
    public void BecomeLong(WorkShare share)
    {
        WorkShare.Place longer = share.Enter(Client);
        _place?.Dispose();
        _place = longer;
        _ = Aborted; // made now, so that its deadline can be lifted
        _deadline?.CancelAfter(Timeout.InfiniteTimeSpan);
    }

    /// <summary>
    /// As <see cref="BecomeLong"/>, for answers: the request ends at a certain age, because it keeps a state of its
    /// database.
    /// </summary>
    public void BecomeStream()
    {
        BecomeLong(Services.Streams);
        Output.EndAfter(Services.Limits.MaxStreamAge);
    }

    /// <summary>The place of this request among queries; not taken yet.</summary>
    public override QueryTurn Turn => _turn ??= new QueryTurn(Services.Queries, Client, Services.Clock);

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
                ReadResult read = await reader.ReadOrCancelAsync(Aborted).ConfigureAwait(false);
                try
                {
                    if (body.Length + read.Buffer.Length > maxBytes)
                        throw TooLarge(maxBytes, announced);
                    body.Append(read.Buffer, announced);
                }
                finally
                {
                    // also when it is refused: what is open cannot be read away after the answer
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
