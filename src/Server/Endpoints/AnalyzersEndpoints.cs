using System.Text.Json;
using Treepie.Indexes;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Analyzers that are kept with a database, as clients put and delete them; and sorters, of which none is taken, as they are
/// code.
/// </summary>
internal static class AnalyzersEndpoints
{
    /// <summary>All analyzers that a database can have stay below.</summary>
    private const int MaxBodyBytes = 8 * 1024 * 1024;

    private const string Analyzers = "Analyzers", Sorters = "Sorters";

    public static void Map(Routes routes)
    {
        routes.Database("GET", "/analyzers", AccessLevel.DatabaseRead, List);
        routes.Database("PUT", "/admin/analyzers", AccessLevel.DatabaseAdmin, Put);
        routes.Database("DELETE", "/admin/analyzers", AccessLevel.DatabaseAdmin, Delete);
        routes.Database("PUT", "/admin/sorters", AccessLevel.DatabaseAdmin, static (request, _) => RefuseSorters(request));
        routes.Server("PUT", "/admin/analyzers", AccessLevel.Operator, RefuseForServer);
        routes.Server("PUT", "/admin/sorters", AccessLevel.Operator, RefuseSorters);
    }

    /// <summary>Writes them as a member of a database record.</summary>
    public static void WriteRecord(Utf8JsonWriter json, Database? database)
    {
        json.WriteStartObject(Analyzers);
        foreach (AnalyzerDefinition definition in database?.Indexes.Analyzers.List() ?? [])
        {
            json.WriteStartObject(definition.Name);
            json.WriteString("Name", definition.Name);
            json.WriteString("Code", definition.Code);
            json.WriteEndObject();
        }

        json.WriteEndObject();
    }

    /// <summary>What a record defines, by name.</summary>
    public static IReadOnlyList<AnalyzerDefinition> ReadRecord(JsonElement record) =>
        record.TryGetProperty(Analyzers, out JsonElement given) && given.ValueKind == JsonValueKind.Object
            ? [.. given.EnumerateObject().Select(static member => Read(member.Value))]
            : [];

    private static Task List(HttpServerRequest request, Database database) =>
        request.JsonAsync(database, static (json, database) =>
        {
            json.WriteStartObject();
            WriteRecord(json, database);
            json.WriteEndObject();
        });

    private static async Task Put(HttpServerRequest request, Database database)
    {
        database.Indexes.Analyzers.Put(await ReadAsync(request, Analyzers).ConfigureAwait(false));
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static Task Delete(HttpServerRequest request, Database database)
    {
        database.Indexes.Analyzers.Delete(request.RequiredParameter("name")); // what is not there is deleted already
        return request.NoContentAsync();
    }

    private static async Task RefuseForServer(HttpServerRequest request) =>
        throw Refused(
            Analyzers, await ReadAsync(request, Analyzers).ConfigureAwait(false),
            "an analyzer belongs to a database and is in its backups: put it in each database that uses it (PUT "
                + "/databases/{name}/admin/analyzers).");

    private static async Task RefuseSorters(HttpServerRequest request) =>
        throw Refused(
            Sorters, await ReadAsync(request, Sorters).ConfigureAwait(false),
            "a sorter is C#, which would run inside of the server, and it takes no code from clients. 'order by F as "
                + "alphaNumeric' and 'as double' order texts as people and numbers do; for another order give the index a field "
                + "that orders so, or run a server of your own with DatabaseOptions.CustomOrders.");

    private static WireException Refused(string what, IReadOnlyList<AnalyzerDefinition> definitions, string why) =>
        new(
            Microsoft.AspNetCore.Http.StatusCodes.Status501NotImplemented, WireTypes.NotSupported,
            $"{what} ({string.Join(", ", definitions.Take(8).Select(static one => $"'{one.Name}'"))}) are not taken here: {why} "
                + "Nothing was changed.");

    private static async Task<IReadOnlyList<AnalyzerDefinition>> ReadAsync(HttpServerRequest request, string member)
    {
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument command = WireJson.ParseObject(body, $"{{\"{member}\":[{{\"Name\":\"…\",\"Code\":\"…\"}}]}}");
        if (!command.RootElement.TryGetProperty(member, out JsonElement given)
            || given.ValueKind != JsonValueKind.Array
            || given.GetArrayLength() == 0)
            throw WireException.BadRequest($"The request body lacks '{member}', an array of definitions.");
        return [.. given.EnumerateArray().Select(Read)];
    }

    private static AnalyzerDefinition Read(JsonElement json) =>
        json.ValueKind == JsonValueKind.Object
        && json.TryGetProperty("Name"u8, out JsonElement name)
        && json.TryGetProperty("Code"u8, out JsonElement code)
        && name.ValueKind == JsonValueKind.String
        && code.ValueKind == JsonValueKind.String
            ? new AnalyzerDefinition(name.GetString() ?? "", code.GetString() ?? "")
            : throw WireException.BadRequest(
                "A definition lacks its 'Name' or its 'Code', both of which are texts. Nothing was changed.");
}
