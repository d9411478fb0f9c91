using System.Text.Json;
using Treepie.Indexes;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Debugging information about an index: its fields, the source documents of its groups, and its past definitions.
/// </summary>
internal static class IndexDebugEndpoints
{
    private const int DefaultIds = 1_024;

    public static void Map(Routes routes)
    {
        routes.Database("GET", "/indexes/debug", AccessLevel.DatabaseRead, Debug);
        routes.Database("GET", "/indexes/history", AccessLevel.DatabaseRead, History);
    }

    private static Task Debug(HttpServerRequest request, Database database)
    {
        IndexStatistics index = IndexesEndpoints.Find(database, request.RequiredParameter("name"));
        return request.RequiredParameter("op") switch
        {
            "entries-fields" => Fields(request, index),
            "source-doc-ids" => Sources(request, database, index),
            "map-reduce-tree" => Groups(request, database, index),
            var other => throw WireException.BadRequest(
                $"'op' of an index is entries-fields, source-doc-ids or map-reduce-tree; '{other}' is given."),
        };
    }

    private static Task Fields(HttpServerRequest request, IndexStatistics index)
    {
        ILookup<bool, string> fields = index.Fields.ToLookup(
            field => index.Definition is null || index.Definition.Fields.Any(
                one => string.Equals(one.Name, field, StringComparison.Ordinal)));
        return request.JsonAsync(fields, static (json, fields) =>
        {
            json.WriteStartObject();
            json.WriteTexts("Static", [.. fields[true]]);
            json.WriteTexts("Dynamic", [.. fields[false]]);
            json.WriteEndObject();
        });
    }

    private static Task Sources(HttpServerRequest request, Database database, IndexStatistics index)
    {
        if (!index.IsMapReduce)
            throw WireException.BadRequest(
                $"The index '{index.Name}' has no reduce: each of its entries is of one document (op=source-doc-ids).");
        if (index.Source != IndexSourceType.Documents)
            throw WireException.NotBuilt("The sources of groups that are made of time series or counters (op=source-doc-ids)");
        int count = (int)Math.Min(request.Number("pageSize", DefaultIds), IndexContent.MaxTerms);
        IReadOnlyList<string> ids = database.LookInto(index.Name)
            .Sources(request.Parameter("startsWith") ?? "", request.Parameter("startAfter"), count);
        return request.JsonAsync(ids, static (json, ids) =>
        {
            json.WriteStartObject();
            json.WriteTexts("Results", ids);
            json.WriteEndObject();
        });
    }

    private static Task Groups(HttpServerRequest request, Database database, IndexStatistics index)
    {
        if (!index.IsMapReduce || index.Source != IndexSourceType.Documents)
            throw WireException.BadRequest(
                $"The index '{index.Name}' has no groups of documents, so that there are no trees of partial results "
                    + "(op=map-reduce-tree).");
        IReadOnlyList<ReducedGroup> groups = database.LookInto(index.Name).GroupsOf(request.RequiredParameter("docId"));
        return request.JsonAsync(groups, static (json, groups) =>
        {
            json.WriteStartObject();
            json.WriteStartArray("Results");
            foreach (ReducedGroup group in groups)
            {
                json.WriteStartObject();
                json.WriteString("Key", group.Key);
                json.WriteBoolean("IsCut", group.IsCut);
                json.WritePropertyName("Root");
                Write(json, group.Root);
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        });
    }

    private static void Write(Utf8JsonWriter json, PartialResult node)
    {
        json.WriteStartObject();
        json.WriteNumber("Count", node.Count);
        json.WriteStartArray("Results");
        foreach (string result in node.Results)
            json.WriteRawValue(result);
        json.WriteEndArray();
        if (node.Error is not null)
            json.WriteString("Error", node.Error);
        json.WriteStartArray("Children");
        foreach (PartialResult child in node.Children)
            Write(json, child);
        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static Task History(HttpServerRequest request, Database database)
    {
        IndexStatistics index = IndexesEndpoints.Find(database, request.RequiredParameter("name"));
        return request.JsonAsync((index.Name, database.Indexes.History(index.Name)), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteString("Index", state.Name);
            json.WritePropertyName("History");
            IndexWire.WriteHistory(json, state.Item2);
            json.WriteEndObject();
        });
    }
}
