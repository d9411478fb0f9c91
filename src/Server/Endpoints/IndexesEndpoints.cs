using System.Text.Json;
using Treepie.Indexes;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Indexes, created by queries or defined by users: defining, listing, statistics, errors, deleting and resetting them.
/// </summary>
internal static class IndexesEndpoints
{
    /// <summary>The maximum number of indexes in one request.</summary>
    private const int MaxDefinitions = 256;

    public static void Map(Routes routes)
    {
        routes.Database("GET", "/indexes", AccessLevel.DatabaseRead, List);
        routes.Database("PUT", "/indexes", AccessLevel.DatabaseReadWrite, Put);
        routes.Database("PUT", "/admin/indexes", AccessLevel.DatabaseAdmin, Put);
        routes.Database("POST", "/indexes/has-changed", AccessLevel.DatabaseRead, HasChanged);
        routes.Database("DELETE", "/indexes", AccessLevel.DatabaseReadWrite, Delete);
        routes.Database("RESET", "/indexes", AccessLevel.DatabaseReadWrite, Reset);
        routes.Database("GET", "/indexes/stats", AccessLevel.DatabaseRead, Statistics);
        routes.Database("GET", "/indexes/errors", AccessLevel.DatabaseRead, Errors);
        routes.Database("DELETE", "/indexes/errors", AccessLevel.DatabaseReadWrite, ClearErrors);
    }

    /// <summary>Returns the statistics of an index.</summary>
    /// <exception cref="IndexNotFoundException">The index does not exist.</exception>
    public static IndexStatistics Find(Database database, string name) =>
        database.Indexes.List().FirstOrDefault(index => string.Equals(index.Name, name, StringComparison.OrdinalIgnoreCase))
        ?? throw new IndexNotFoundException(name);

    private static Task List(HttpServerRequest request, Database database)
    {
        IEnumerable<IndexStatistics> indexes = database.Indexes.List();
        if (request.Parameter("name") is { Length: > 0 } name)
        {
            indexes = indexes.Where(index => string.Equals(index.Name, name, StringComparison.OrdinalIgnoreCase)).ToArray();
            if (!indexes.Any())
                return request.EmptyAsync(StatusCodes.Status404NotFound);
        }

        int start = (int)Math.Min(request.Number("start", 0), int.MaxValue);
        int pageSize = (int)Math.Min(request.Number("pageSize", int.MaxValue), int.MaxValue);
        bool namesOnly = request.Flag("namesOnly");
        return request.JsonAsync((Indexes: indexes.Skip(start).Take(pageSize), namesOnly), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteStartArray("Results");
            foreach (IndexStatistics index in state.Indexes)
            {
                if (state.namesOnly)
                    json.WriteStringValue(index.Name);
                else
                    IndexWire.WriteDefinition(json, index);
            }

            json.WriteEndArray();
            json.WriteEndObject();
        });
    }

    /// <summary>
    /// Defines indexes, all or none.
    /// </summary>
    private static async Task Put(HttpServerRequest request, Database database)
    {
        using RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false);
        using JsonDocument command = WireJson.ParseObject(
            body,
            "definitions such as "
                + "{\"Indexes\":[{\"Name\":\"Users/ByName\",\"Collections\":[\"Users\"],\"Fields\":{\"Name\":{}}}]}");
        if (!command.RootElement.TryGetProperty("Indexes", out JsonElement given) || given.ValueKind != JsonValueKind.Array)
            throw WireException.BadRequest("The request body lacks 'Indexes', an array of definitions.");
        if (given.GetArrayLength() is 0 or > MaxDefinitions)
            throw WireException.BadRequest(
                $"The request defines {given.GetArrayLength()} indexes; 1 to {MaxDefinitions} go in one.");

        IndexDefinition[] definitions = PutAll(database, [.. given.EnumerateArray()]);
        await request.JsonAsync(
            (Definitions: definitions, Etag: database.LastEtag),
            static (json, state) =>
            {
                json.WriteStartObject();
                json.WriteStartArray("Results");
                foreach (IndexDefinition definition in state.Definitions)
                {
                    json.WriteStartObject();
                    json.WriteString("Index", definition.Name);
                    json.WriteNumber("RaftCommandIndex", state.Etag);
                    json.WriteEndObject();
                }

                json.WriteEndArray();
                json.WriteEndObject();
            },
            StatusCodes.Status201Created).ConfigureAwait(false);
    }

    /// <summary>Defines indexes, all or none, and returns the complete definitions.</summary>
    public static IndexDefinition[] PutAll(Database database, JsonElement[] given)
    {
        IndexDefinition[] definitions = [.. given.Select(IndexDefinition.FromJson)];
        IndexSettingsChange[] settings = [.. given.Select(IndexSettingsChange.Read)];
        definitions = [.. definitions.Select(database.Indexes.Complete)];
        database.Indexes.PutAll(definitions);
        for (int i = 0; i < definitions.Length; i++)
        {
            if (database.Indexes.Definition(definitions[i].Name)?.IsSameAs(definitions[i]) == true)
                database.Indexes.Control.Set(definitions[i].Name, settings[i].ApplyTo);
        }

        return definitions;
    }

    private static async Task HasChanged(HttpServerRequest request, Database database)
    {
        using RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false);
        using JsonDocument command = WireJson.ParseObject(body, "the definition of an index");
        IndexDefinition definition = database.Indexes.Complete(IndexDefinition.FromJson(command.RootElement));
        bool changed = database.Indexes.Definition(definition.Name)?.IsSameAs(definition) != true;
        await request.JsonAsync(changed, static (json, changed) =>
        {
            json.WriteStartObject();
            json.WriteBoolean("Changed", changed);
            json.WriteEndObject();
        }).ConfigureAwait(false);
    }

    private static Task Delete(HttpServerRequest request, Database database)
    {
        database.Indexes.Delete(request.RequiredParameter("name")); // deleting one that does not exist succeeds
        return request.NoContentAsync();
    }

    private static Task Reset(HttpServerRequest request, Database database)
    {
        database.Indexes.Reset(request.RequiredParameter("name"));
        return request.JsonAsync(static json =>
        {
            json.WriteStartObject();
            json.WriteEndObject();
        });
    }

    private static Task Statistics(HttpServerRequest request, Database database)
    {
        IEnumerable<IndexStatistics> indexes = request.Parameter("name") is { Length: > 0 } name
            ? [Find(database, name)]
            : database.Indexes.List();
        return request.JsonAsync(indexes, static (json, indexes) =>
        {
            json.WriteStartObject();
            json.WriteStartArray("Results");
            foreach (IndexStatistics index in indexes)
                IndexWire.WriteStatistics(json, index);

            json.WriteEndArray();
            json.WriteEndObject();
        });
    }

    private static Task Errors(HttpServerRequest request, Database database) =>
        request.JsonAsync(
            Named(request, database).Select(name => (Name: name, Errors: database.Indexes.Errors(name))).ToArray(),
            static (json, indexes) =>
            {
                json.WriteStartObject();
                json.WriteStartArray("Results");
                foreach ((string name, IReadOnlyList<IndexError> errors) in indexes)
                {
                    json.WriteStartObject();
                    json.WriteString("Name", name);
                    json.WriteStartArray("Errors");
                    foreach (IndexError error in errors)
                        WriteError(json, error);

                    json.WriteEndArray();
                    json.WriteEndObject();
                }

                json.WriteEndArray();
                json.WriteEndObject();
            });

    private static Task ClearErrors(HttpServerRequest request, Database database)
    {
        foreach (string name in Named(request, database))
            database.Indexes.ClearErrors(name);
        return request.NoContentAsync();
    }

    /// <summary>Returns the names of the indexes in the request, or of all.</summary>
    private static string[] Named(HttpServerRequest request, Database database)
    {
        var names = request.Parameters("name");
        return names.Count == 0
            ? [.. database.Indexes.List().Select(index => index.Name)]
            : [.. names.Select(name => Find(database, name ?? "").Name)];
    }

    private static void WriteError(Utf8JsonWriter json, IndexError error)
    {
        json.WriteStartObject();
        json.WriteString("Error", error.Message);
        json.WriteString("Timestamp", WireTime.ToWire(error.Time));
        json.WriteString("Document", error.DocumentId);
        json.WriteString("Action", error.Action);
        json.WriteEndObject();
    }
}
