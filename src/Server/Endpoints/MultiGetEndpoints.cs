using System.Text.Json;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Several reads in one request, as sent by lazy loads. They are answered one after another into the same response, so that
/// memory use does not grow with their number.
/// </summary>
internal static class MultiGetEndpoints
{
    public static void Map(Routes routes) => routes.Database("POST", "/multi_get", AccessLevel.DatabaseRead, Post);

    private static async Task Post(HttpServerRequest request, Database database)
    {
        using RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false);
        using (JsonDocument document = WireJson.ParseObject(body, "{\"Requests\":[…]}"))
        {
            if (!document.RootElement.TryGetProperty("Requests", out JsonElement requests)
                || requests.ValueKind != JsonValueKind.Array)
                throw WireException.BadRequest("The request body lacks 'Requests', an array.");

            if (requests.GetArrayLength() > request.Server.Limits.MaxCommandsPerRequest)
                throw WireException.TooLarge(
                    $"More than {request.Server.Limits.MaxCommandsPerRequest:N0} requests in one multi_get.");

            // All are parsed before the response is started: if one is not valid, the whole request is rejected.
            EmbeddedServerRequest[] all = [.. requests.EnumerateArray().Select(one => Read(one, request))];
            ResponseBody output = request.BeginJsonBody();
            output.Write("{\"Results\":["u8);
            for (int i = 0; i < all.Length; i++)
            {
                output.Write(i == 0 ? "{\"Result\":"u8 : ",{\"Result\":"u8);
                await AnswerAsync(all[i], database).ConfigureAwait(false);
                await request.PauseAsync().ConfigureAwait(false);
            }

            output.Write("]}"u8);
        }
    }

    private static EmbeddedServerRequest Read(JsonElement one, HttpServerRequest request)
    {
        if (one.ValueKind != JsonValueKind.Object)
            throw WireException.BadRequest(
                $"'Requests' holds a JSON {one.ValueKind}; expected are objects with Url, Query, Method, Headers and Content.");

        string url = WireJson.Text(one, "Url", required: true)!; // Text throws if it is missing
        string query = WireJson.Text(one, "Query", required: false) ?? "";
        string method = WireJson.Text(one, "Method", required: false) ?? "GET";
        return new EmbeddedServerRequest(
            request, url, query, method, HeadersOf(one), WireJson.Text(one, "Content", required: false));
    }

    private static Dictionary<string, string> HeadersOf(JsonElement one)
    {
        var headers = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase);
        if (!one.TryGetProperty("Headers", out JsonElement given) || given.ValueKind != JsonValueKind.Object)
            return headers;

        foreach (JsonProperty header in given.EnumerateObject())
            if (WireJson.Text(header.Value, header.Name) is { } value)
                headers[header.Name] = value;

        return headers;
    }

    private static async Task AnswerAsync(EmbeddedServerRequest request, Database database)
    {
        request.BeginAnswer();
        try
        {
            await HandlerOf(request, database)(request, database).ConfigureAwait(false);
        }
        catch (Exception exception) when (!request.HasBody && !request.Aborted.IsCancellationRequested)
        {
            await ErrorAnswer.For(exception, request).WriteAsync(request).ConfigureAwait(false);
        }

        ResponseBody output = request.Output;
        if (!request.HasBody)
            output.Write("null"u8);

        output.Write(",\"StatusCode\":"u8);
        output.WriteNumber(request.StatusCode);
        output.Write(",\"Headers\":{"u8);
        if (request.ETag is not null)
        {
            output.Write("\"ETag\":"u8);
            output.WriteString(request.ETag);
        }

        output.Write("},\"ForceRetry\":false}"u8);
    }

    // The database is that of the outer request, for which access was checked; inner requests must be for the same one.
    private static Func<ServerRequest, Database, Task> HandlerOf(EmbeddedServerRequest request, Database database)
    {
        string path = request.Url;
        int question = path.IndexOf('?', StringComparison.Ordinal);
        if (question >= 0)
            path = path[..question];

        string prefix = $"/databases/{database.Name}";
        if (!path.StartsWith(prefix, StringComparison.OrdinalIgnoreCase))
            throw WireException.BadRequest(
                $"A multi_get in database '{database.Name}' asks for {path}; it can only read its own database.");

        return (request.Method.ToUpperInvariant(), path[prefix.Length..]) switch
        {
            ("GET", "/docs") => DocumentsEndpoints.Get,
            ("POST", "/docs") => DocumentsEndpoints.Post,
            ("POST", "/queries") => QueriesEndpoints.Post,
            ("GET", "/cmpxchg") => CompareExchangeEndpoints.Get,
            ("GET", "/revisions") => RevisionsEndpoints.Get,
            (_, "/docs" or "/queries") => throw WireException.RouteNotFound(request.Method, path),
            _ => throw WireException.NotBuilt($"{request.Method} {path} inside a multi_get"),
        };
    }
}
