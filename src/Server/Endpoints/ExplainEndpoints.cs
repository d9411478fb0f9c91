using System.Buffers;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Explains queries: executes a query and responds with its plan, as JSON or as an image, instead of its results.
/// </summary>
internal static class ExplainEndpoints
{
    public static void Map(Routes routes) => routes.Database("POST", "/queries/explain", AccessLevel.DatabaseRead, Post);

    /// <summary>
    /// Responds with the index that would answer a query, and why others would not: <c>queries?debug=explain</c>.
    /// </summary>
    public static async Task ChoicesAsync(ServerRequest request, Database database, QueryRequest query)
    {
        IReadOnlyList<IndexChoice> choices;
        try
        {
            await request.Turn.TakeAsync(request.Aborted).ConfigureAwait(false);
            choices = database.IndexChoices(query, request.Aborted);
        }
        catch (IndexNotFoundException missing)
        {
            await QueriesEndpoints.MissingIndexAsync(request, missing).ConfigureAwait(false);
            return;
        }
        finally
        {
            request.Turn.Release();
        }

        await request.JsonAsync(choices, static (json, choices) =>
        {
            json.WriteStartObject();
            json.WriteStartArray("Results");
            foreach (IndexChoice choice in choices)
            {
                json.WriteStartObject();
                json.WriteString("Index", choice.Index);
                json.WriteString("Reason", choice.Reason);
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        }).ConfigureAwait(false);
    }

    private static async Task Post(HttpServerRequest request, Database database)
    {
        string format = request.Parameter("format") ?? "json";
        if (format is not ("json" or "svg"))
            throw WireException.BadRequest($"'format' is json or svg; '{format}' is given.");

        using QueryCommand command = await QueryCommand.ReadAsync(request, withTimings: true).ConfigureAwait(false);
        using QueryResults? results = await QueriesEndpoints.RunAsync(request, database, command).ConfigureAwait(false);
        if (results is null)
            return;

        if (format == "svg")
        {
            var picture = new ArrayBufferWriter<byte>();
            if (!results.TryWritePlanPicture(picture))
                throw WireException.BadRequest(
                    $"The query is answered by '{results.IndexName}' without looking for documents, so there is no plan to "
                        + $"draw.");
            ResponseBody body = request.BeginJsonBody();
            request.Http.Response.ContentType = "image/svg+xml; charset=utf-8";
            body.Write(picture.WrittenSpan);
            return;
        }

        ResponseBody output = request.BeginJsonBody();
        output.Write("{\"IndexName\":"u8);
        output.WriteString(results.IndexName);
        output.Write(",\"IsStale\":"u8);
        output.WriteBoolean(results.IsStale);
        output.Write(",\"TotalResults\":"u8);
        output.WriteNumber(results.TotalResults);
        output.Write(",\"Timings\":"u8);
        results.WriteTimings(output);
        output.Write("}"u8);
    }
}
