using Microsoft.Net.Http.Headers;
using Treepie.Server.Databases;

namespace Treepie.Server.Http;

/// <summary>
/// Wraps every endpoint: sets headers, applies the limit of concurrent requests, enters the database, and reports errors.
/// </summary>
/// <param name="server">The services of all requests.</param>
/// <param name="before">Rejects a request by throwing an exception; null: none.</param>
internal sealed class RequestFrame(RequestServices server, Action<HttpContext>? before = null)
{
    public Task ServeAsync(HttpContext http, Func<HttpServerRequest, Task> handler) => ServeAsync(http, handler, null);

    public Task ServeDatabaseAsync(HttpContext http, Func<HttpServerRequest, DatabaseLease, Task> handler) =>
        ServeAsync(http, null, handler);

    /// <summary>Serves a request by the one handler that is given.</summary>
    private async Task ServeAsync(
        HttpContext http, Func<HttpServerRequest, Task>? handler, Func<HttpServerRequest, DatabaseLease, Task>? inDatabase)
    {
        using var request = new HttpServerRequest(server, http);
        Begin(http);
        server.Telemetry.RequestBegun();
        try
        {
            before?.Invoke(http);
            request.Enter();
            if (inDatabase is not null)
            {
                // all these patterns have the parameter
                string name = (string)http.GetRouteValue(Endpoints.Routes.DatabaseParameter)!;
                using DatabaseLease lease = server.Databases.Enter(name);
                request.EndWith(lease.Closing);
                await inDatabase(request, lease).ConfigureAwait(false);
            }
            else if (handler is not null)
                await handler(request).ConfigureAwait(false);

            await request.CompleteAsync().ConfigureAwait(false);
        }
        catch (Exception exception)
        {
            await FailAsync(request, exception).ConfigureAwait(false);
        }
        finally
        {
            server.Telemetry.RequestEnded();
            server.SlowLog?.Ended(request);
        }
    }

    private static void Begin(HttpContext http)
    {
        IHeaderDictionary headers = http.Response.Headers;
        headers["Raven-Server-Version"] = ProductVersion.Protocol;
        headers.XContentTypeOptions = "nosniff";
        headers["Cross-Origin-Resource-Policy"] = "same-origin";
        // Whatever was stored here, a browser that shows it runs no script with the rights of who looks at it.
        headers.ContentSecurityPolicy = "sandbox; default-src 'none'";
    }

    /// <summary>Removes what an endpoint has said about a response that an error takes the place of.</summary>
    private static void TakeBack(HttpResponse response)
    {
        response.ContentLength = null;
        foreach (string name in (ReadOnlySpan<string>)
        [
            HeaderNames.ETag, HeaderNames.ContentRange, HeaderNames.AcceptRanges, HeaderNames.ContentDisposition,
            "Attachment-Hash", "Attachment-Size"
        ])
            response.Headers.Remove(name);
    }

    private async Task FailAsync(HttpServerRequest request, Exception exception)
    {
        HttpContext http = request.Http;
        if (exception is OperationCanceledException && http.RequestAborted.IsCancellationRequested)
        {
            http.Abort(); // the client has disconnected
            return;
        }

        ErrorAnswer answer = ErrorAnswer.For(exception, request);
        if (answer.StatusCode >= StatusCodes.Status500InternalServerError)
            server.Telemetry.RequestFailed();

        if (answer.IsUnexpected)
            server.Logger.LogError(
                exception, "Request {RequestId} {Method} {Path} failed", http.TraceIdentifier, request.Method,
                http.Request.Path.Value);

        if (http.Response.HasStarted || request.Output.IsStreamed)
        {
            http.Abort(); // a success status has been sent already, so only a broken connection can signal the error
            return;
        }

        request.Output.Discard();
        TakeBack(http.Response);
        await answer.WriteAsync(request).ConfigureAwait(false);
        await request.CompleteAsync().ConfigureAwait(false);
    }
}
