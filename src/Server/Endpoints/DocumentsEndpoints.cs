using Microsoft.Extensions.Primitives;
using Treepie.Server.Http;
using Treepie.Server.Security;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Server.Endpoints;

/// <summary>Documents: load by id, list by prefix or newest first, store, delete, and test for existence.</summary>
internal static class DocumentsEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database("GET", "/docs", AccessLevel.DatabaseRead, Get);
        routes.Database("POST", "/docs", AccessLevel.DatabaseRead, Post);
        routes.Database("HEAD", "/docs", AccessLevel.DatabaseRead, Head);
        routes.Database("PUT", "/docs", AccessLevel.DatabaseReadWrite, Put);
        routes.Database("DELETE", "/docs", AccessLevel.DatabaseReadWrite, Delete);
        routes.Database("GET", "/replication/conflicts", AccessLevel.DatabaseRead, Conflicts);
        PatchEndpoints.Map(routes);
    }

    /// <summary>Lists the conflicts of a document, or of all: a single node has none.</summary>
    private static Task Conflicts(HttpServerRequest request, Database database) => request.JsonAsync(
        request.Parameter("docId"), static (json, id) =>
        {
            json.WriteStartObject();
            if (id is not null)
                json.WriteString("Id", id);
            json.WriteNumber(id is not null ? "LargestEtag" : "TotalResults", 0);
            json.WriteStartArray("Results");
            json.WriteEndArray();
            json.WriteEndObject();
        });

    /// <summary>Loads by id, lists by prefix, or lists the newest documents.</summary>
    public static Task Get(ServerRequest request, Database database)
    {
        StringValues ids = request.Parameters("id");
        if (ids.Count > 0)
            return DocumentLoader.LoadAsync(request, database, ids!); // a parameter that is present has a value, even if empty

        return DocumentLister.ListAsync(request, database);
    }

    /// <summary>Loads by ids in the body, if they are too many for a URL: <c>{"Ids":["users/1",…]}</c>.</summary>
    public static async Task Post(ServerRequest request, Database database)
    {
        using RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false);
        var ids = new List<string>();
        using (var document = WireJson.ParseObject(body, "{\"Ids\":[\"…\"]}"))
        {
            if (!document.RootElement.TryGetProperty("Ids", out var array)
                || array.ValueKind != System.Text.Json.JsonValueKind.Array)
                throw WireException.BadRequest("The request body lacks 'Ids', the ids of the documents to load.");

            foreach (var element in array.EnumerateArray())
                ids.Add(WireJson.Text(element, "Ids") ?? "");
        }

        await DocumentLoader.LoadAsync(request, database, ids).ConfigureAwait(false);
    }

    private static Task Head(HttpServerRequest request, Database database)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        if (!snapshot.TryGet(request.RequiredParameter("id"), out Document document))
            return request.EmptyAsync(StatusCodes.Status404NotFound);

        string changeVector = document.ChangeVector;
        if (request.ChangeVectorHeader("If-None-Match") == changeVector)
            return request.EmptyAsync(StatusCodes.Status304NotModified);

        request.SetETag(changeVector);
        return request.EmptyAsync(StatusCodes.Status200OK);
    }

    private static async Task Put(HttpServerRequest request, Database database)
    {
        string id = request.RequiredParameter("id");
        using RequestBody body = await request.ReadBodyAsync(database.Options.MaxDocumentBytes).ConfigureAwait(false);
        if (body.Length == 0)
            throw WireException.BadRequest($"PUT of document '{id}' has no body; expected is one JSON object.");

        WriteBatch batch = new WriteBatch(database.Options).Put(id, body.Memory, request.ChangeVectorHeader("If-Match"));
        IReadOnlyList<WriteResult> results = await database.WriteAsync(batch, request.Aborted).ConfigureAwait(false);
        await request.JsonAsync(results[0], static (json, result) =>
        {
            json.WriteStartObject();
            json.WriteString("Id", result.Id);
            json.WriteString("ChangeVector", result.ChangeVector);
            json.WriteEndObject();
        }, StatusCodes.Status201Created).ConfigureAwait(false);
    }

    private static async Task Delete(HttpServerRequest request, Database database)
    {
        WriteBatch batch = new WriteBatch(database.Options).Delete(
            request.RequiredParameter("id"), request.ChangeVectorHeader("If-Match"));
        await database.WriteAsync(batch, request.Aborted).ConfigureAwait(false);
        await request.NoContentAsync().ConfigureAwait(false);
    }
}
