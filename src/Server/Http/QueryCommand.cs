using System.Text.Json;
using Treepie.Queries;

namespace Treepie.Server.Http;

/// <summary>A query as it came in a body. Its parameters live in that body's buffer: dispose when the query is done.</summary>
internal sealed class QueryCommand : IDisposable
{
    private readonly JsonDocument document;
    private readonly RequestBody body;

    private QueryCommand(QueryRequest request, JsonDocument document, RequestBody body)
    {
        Request = request;
        this.document = document;
        this.body = body;
    }

    public QueryRequest Request { get; }

    public static async Task<QueryCommand> ReadAsync(ServerRequest request)
    {
        RequestBody body = await request.ReadBodyAsync(request.Server.Options.MaxRequestBytes).ConfigureAwait(false);
        JsonDocument? document = null;
        try
        {
            document = WireJson.ParseObject(body, "a query such as {\"Query\":\"from Users\"}");
            return new QueryCommand(Read(request, document.RootElement), document, body);
        }
        catch
        {
            document?.Dispose();
            body.Dispose();
            throw;
        }
    }

    public void Dispose()
    {
        document.Dispose();
        body.Dispose();
    }

    private static QueryRequest Read(ServerRequest request, JsonElement command)
    {
        JsonElement parameters = default;
        if (command.TryGetProperty("QueryParameters", out JsonElement given) && given.ValueKind != JsonValueKind.Null)
            parameters = given.ValueKind == JsonValueKind.Object
                ? given
                : throw WireException.BadRequest($"'QueryParameters' holds a JSON {given.ValueKind}; expected is an object of parameters by name.");

        return new QueryRequest
        {
            Text = WireJson.Text(command, "Query", required: true)!, // required
            Parameters = parameters,
            WaitForNonStaleResults = WireJson.Flag(command, "WaitForNonStaleResults"),
            NeverStale = WireJson.Flag(command, "NeverStale"),
            WaitTimeout = WireJson.Time(command, "WaitForNonStaleResultsTimeout"),
            MetadataOnly = request.Flag("metadataOnly"),
            Start = WireJson.Count(command, "Start", otherwise: 0),
            PageSize = WireJson.Count(command, "PageSize", otherwise: long.MaxValue),
        };
    }
}
