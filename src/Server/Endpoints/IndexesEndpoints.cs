using System.Text.Json;
using Treepie.Indexes;
using Treepie.Server.Http;

namespace Treepie.Server.Endpoints;

/// <summary>The indexes that queries made: listing, state, deleting, building anew. Defining indexes by hand comes later and says so.</summary>
internal static class IndexesEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database("GET", "/indexes", List);
        routes.Database("DELETE", "/indexes", Delete);
        routes.Database("RESET", "/indexes", Reset);
        routes.Database("GET", "/indexes/stats", Statistics);
        routes.Database("GET", "/indexes/status", Status);
        routes.Database("GET", "/indexes/errors", Errors);
        foreach ((string method, string pattern) in (ReadOnlySpan<(string, string)>)
                 [
                     ("PUT", "/indexes"), ("PUT", "/admin/indexes"), ("POST", "/indexes/has-changed"), ("POST", "/indexes/set-lock"),
                     ("POST", "/indexes/set-priority"), ("GET", "/indexes/terms"), ("DELETE", "/indexes/errors"),
                     ("POST", "/admin/indexes/enable"), ("POST", "/admin/indexes/disable"), ("POST", "/admin/indexes/start"), ("POST", "/admin/indexes/stop"),
                 ])
            routes.Database(method, pattern, static (request, _) => throw WireException.NotBuilt(
                $"{request.Method} {request.Http.Request.Path} (indexes defined by hand, their terms and their settings)"));
    }

    private static IndexStatistics Find(Database database, string name) =>
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
                    WriteDefinition(json, index);
            }

            json.WriteEndArray();
            json.WriteEndObject();
        });
    }

    private static void WriteDefinition(Utf8JsonWriter json, IndexStatistics index)
    {
        json.WriteStartObject();
        json.WriteString("Name", index.Name);
        json.WriteString("Type", IndexWire.AutoMap);
        json.WriteString("SourceType", IndexWire.Documents);
        json.WriteString("LockMode", IndexWire.LockMode);
        json.WriteString("Priority", IndexWire.Priority);
        json.WriteString("State", IndexWire.StateOf(index));
        json.WriteStartArray("Maps");
        json.WriteStringValue($"{index.Collection}:[{string.Join(", ", index.Fields.Select(static field => $"<Name:{field}>"))}]");
        json.WriteEndArray();
        json.WriteNull("Reduce");
        json.WriteStartObject("Fields");
        foreach (string field in index.Fields)
        {
            json.WriteStartObject(field);
            json.WriteEndObject();
        }

        json.WriteEndObject();
        json.WriteStartObject("Configuration");
        json.WriteEndObject();
        json.WriteEndObject();
    }

    private static Task Delete(HttpServerRequest request, Database database)
    {
        database.Indexes.Delete(request.RequiredParameter("name")); // what is not there is deleted already
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
        IEnumerable<IndexStatistics> indexes = request.Parameter("name") is { Length: > 0 } name ? [Find(database, name)] : database.Indexes.List();
        return request.JsonAsync(indexes, static (json, indexes) =>
        {
            json.WriteStartObject();
            json.WriteStartArray("Results");
            foreach (IndexStatistics index in indexes)
                WriteStatistics(json, index);

            json.WriteEndArray();
            json.WriteEndObject();
        });
    }

    private static void WriteStatistics(Utf8JsonWriter json, IndexStatistics index)
    {
        json.WriteStartObject();
        json.WriteString("Name", index.Name);
        json.WriteString("Type", IndexWire.AutoMap);
        json.WriteString("SourceType", IndexWire.Documents);
        json.WriteString("State", IndexWire.StateOf(index));
        json.WriteString("Status", IndexWire.StatusOf(index));
        json.WriteString("LockMode", IndexWire.LockMode);
        json.WriteString("Priority", IndexWire.Priority);
        json.WriteBoolean("IsStale", index.IsStale);
        json.WriteNumber("EntriesCount", index.EntryCount);
        json.WriteNumber("ErrorsCount", index.ErrorCount);
        json.WriteStartObject("Collections");
        json.WriteStartObject(index.Collection);
        json.WriteNumber("LastProcessedDocumentEtag", index.LastIndexedEtag);
        json.WriteEndObject();
        json.WriteEndObject();
        if (index.LastIndexingTime is { } time)
            json.WriteString("LastIndexingTime", WireTime.ToWire(time));

        json.WriteEndObject();
    }

    private static Task Status(HttpServerRequest request, Database database) =>
        request.JsonAsync(database.Indexes.List(), static (json, indexes) =>
        {
            json.WriteStartObject();
            json.WriteString("Status", "Running");
            json.WriteStartArray("Indexes");
            foreach (IndexStatistics index in indexes)
            {
                json.WriteStartObject();
                json.WriteString("Name", index.Name);
                json.WriteString("Status", IndexWire.StatusOf(index));
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        });

    private static Task Errors(HttpServerRequest request, Database database)
    {
        var names = request.Parameters("name");
        IEnumerable<IndexStatistics> indexes = names.Count == 0 ? database.Indexes.List() : names.Select(name => Find(database, name ?? "")).ToArray();
        return request.JsonAsync(indexes, static (json, indexes) =>
        {
            json.WriteStartObject();
            json.WriteStartArray("Results");
            foreach (IndexStatistics index in indexes)
            {
                json.WriteStartObject();
                json.WriteString("Name", index.Name);
                json.WriteStartArray("Errors");
                if (index.Error is not null)
                    WriteError(json, index, index.Error);

                json.WriteEndArray();
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        });
    }

    private static void WriteError(Utf8JsonWriter json, IndexStatistics index, string error)
    {
        json.WriteStartObject();
        json.WriteString("Error", error);
        json.WriteString("Timestamp", WireTime.ToWire(index.LastIndexingTime ?? DateTime.UnixEpoch));
        json.WriteNull("Document");
        json.WriteString("Action", "Map");
        json.WriteEndObject();
    }
}
