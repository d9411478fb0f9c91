using System.Text.Json;
using Treepie.Indexes;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// The content of an index, to find out why something is found or not, or how large the index is: terms of a field, what was
/// indexed of one document, and size by structure.
/// </summary>
internal static class IndexContentEndpoints
{
    private const int DefaultTerms = 1_024;

    public static void Map(Routes routes)
    {
        routes.Database("GET", "/indexes/terms", AccessLevel.DatabaseRead, Terms);
        routes.Database("GET", "/indexes/entry", AccessLevel.DatabaseRead, Entry);
        routes.Database("GET", "/indexes/structures", AccessLevel.DatabaseRead, Structures);
    }

    private static Task Terms(HttpServerRequest request, Database database)
    {
        string name = request.RequiredParameter("name");
        int count = (int)Math.Min(request.Number("pageSize", DefaultTerms), IndexContent.MaxTerms);
        string? after = request.Parameter("fromValue") is { Length: > 0 } given ? given : null;
        IReadOnlyList<string> terms = database.LookInto(name, request.Flag("neverStale"))
            .Terms(request.RequiredParameter("field"), after, count, out long etag);
        return request.JsonAsync((terms, etag, name), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteTexts("Terms", state.terms);
            json.WriteNumber("ResultEtag", state.etag);
            json.WriteString("IndexName", state.name);
            json.WriteEndObject();
        });
    }

    private static Task Structures(HttpServerRequest request, Database database)
    {
        string name = request.RequiredParameter("name");
        IReadOnlyList<IndexStructure> sizes = database.LookInto(name).Structures(request.Aborted);
        return request.JsonAsync((sizes, name), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteString("IndexName", state.name);
            json.WriteStartArray("Structures");
            foreach (IndexStructure size in state.sizes)
            {
                json.WriteStartObject();
                json.WriteString("Structure", size.Name);
                json.WriteString("Field", size.Field);
                json.WriteNumber("SizeInBytes", size.SizeBytes);
                json.WriteNumber("UsedBytes", size.UsedBytes);
                json.WriteNumber("Keys", size.Keys);
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        });
    }

    private static Task Entry(HttpServerRequest request, Database database)
    {
        string name = request.RequiredParameter("name");
        string id = request.RequiredParameter("id");
        IReadOnlyList<IndexedValues>? fields = database.LookInto(name, request.Flag("neverStale")).Entry(id);
        return fields is null
            ? request.EmptyAsync(StatusCodes.Status404NotFound)
            : request.JsonAsync((fields, name, id), static (json, state) =>
            {
                json.WriteStartObject();
                json.WriteString("IndexName", state.name);
                json.WriteString("Id", state.id);
                json.WriteStartObject("Fields");
                foreach (IndexedValues field in state.fields)
                {
                    json.WriteStartObject(field.Field);
                    json.WriteTexts("Terms", field.Terms);
                    json.WriteStartArray("Numbers");
                    foreach (double number in field.Numbers)
                    {
                        if (double.IsFinite(number))
                            json.WriteNumberValue(number);
                        else
                            json.WriteStringValue(number.ToString(System.Globalization.CultureInfo.InvariantCulture));
                    }

                    json.WriteEndArray();
                    json.WriteBoolean("HasNull", field.HasNull);
                    WriteOthers(json, field);
                    json.WriteEndObject();
                }

                json.WriteEndObject();
                json.WriteEndObject();
            });
    }

    /// <summary>Writes what only full-text, spatial and vector fields have.</summary>
    private static void WriteOthers(Utf8JsonWriter json, IndexedValues field)
    {
        if (field.Positions.Count > 0)
            WriteNumbers(json, "Positions", field.Positions, static (json, position) => json.WriteNumberValue(position));
        if (field.Places.Count > 0)
            json.WriteTexts("Places", field.Places);
        if (field.Vectors.Count > 0)
            WriteNumbers(json, "Vectors", field.Vectors, static (json, number) => json.WriteNumberValue(number));
    }

    private static void WriteNumbers<T>(
        Utf8JsonWriter json, string name, IReadOnlyList<IReadOnlyList<T>> rows, Action<Utf8JsonWriter, T> write)
    {
        json.WriteStartArray(name);
        foreach (IReadOnlyList<T> row in rows)
        {
            json.WriteStartArray();
            foreach (T number in row)
                write(json, number);
            json.WriteEndArray();
        }

        json.WriteEndArray();
    }
}
