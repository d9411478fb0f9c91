using System.Text.Json;
using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>Analyzers and sorters stored in a database, or shared by all: descriptions in JSON, never code.</summary>
internal static class AnalyzersEndpoints
{
    /// <summary>Larger than all analyzers or sorters that a database can have.</summary>
    private const int MaxBodyBytes = 8 * 1024 * 1024;

    private const string Analyzers = "Analyzers", Sorters = "Sorters";

    public static void Map(Routes routes)
    {
        routes.Database("GET", "/analyzers", AccessLevel.DatabaseRead, ListAnalyzers);
        routes.Database("PUT", "/admin/analyzers", AccessLevel.DatabaseAdmin, PutAnalyzers);
        routes.Database("DELETE", "/admin/analyzers", AccessLevel.DatabaseAdmin, DeleteAnalyzer);
        routes.Database("GET", "/sorters", AccessLevel.DatabaseRead, ListSorters);
        routes.Database("PUT", "/admin/sorters", AccessLevel.DatabaseAdmin, PutSorters);
        routes.Database("DELETE", "/admin/sorters", AccessLevel.DatabaseAdmin, DeleteSorter);
        routes.Server("GET", "/analyzers", AccessLevel.ValidUser, ListSharedAnalyzers);
        routes.Server("PUT", "/admin/analyzers", AccessLevel.Operator, PutSharedAnalyzers);
        routes.Server("DELETE", "/admin/analyzers", AccessLevel.Operator, DeleteSharedAnalyzer);
        routes.Server("GET", "/sorters", AccessLevel.ValidUser, ListSharedSorters);
        routes.Server("PUT", "/admin/sorters", AccessLevel.Operator, PutSharedSorters);
        routes.Server("DELETE", "/admin/sorters", AccessLevel.Operator, DeleteSharedSorter);
    }

    /// <summary>Writes analyzers and sorters as members of a database record.</summary>
    public static void WriteRecord(Utf8JsonWriter json, Database? database)
    {
        Write(json, Analyzers, database is null ? [] : AnalyzersOf(database));
        Write(json, Sorters, database is null ? [] : SortersOf(database));
    }

    /// <summary>Reads the analyzers in a database record.</summary>
    public static IReadOnlyList<AnalyzerDefinition> ReadAnalyzers(JsonElement record) =>
        [.. ReadRecord(record, Analyzers).Select(static one => new AnalyzerDefinition(one.Name, one.Code))];

    /// <summary>Reads the sorters in a database record.</summary>
    public static IReadOnlyList<SorterDefinition> ReadSorters(JsonElement record) =>
        [.. ReadRecord(record, Sorters).Select(static one => new SorterDefinition(one.Name, one.Code))];

    private static IEnumerable<(string Name, string Code)> ReadRecord(JsonElement record, string member) =>
        record.TryGetProperty(member, out JsonElement given) && given.ValueKind == JsonValueKind.Object
            ? given.EnumerateObject().Select(static member => Read(member.Value))
            : [];

    private static IEnumerable<(string Name, string Code)> AnalyzersOf(Database database) =>
        database.Indexes.Analyzers.List().Select(static one => (one.Name, one.Code));

    private static IEnumerable<(string Name, string Code)> SortersOf(Database database) =>
        database.Sorters.List().Select(static one => (one.Name, one.Code));

    private static void Write(Utf8JsonWriter json, string member, IEnumerable<(string Name, string Code)> definitions)
    {
        json.WriteStartObject(member);
        foreach ((string name, string code) in definitions)
        {
            json.WriteStartObject(name);
            json.WriteString("Name", name);
            json.WriteString("Code", code);
            json.WriteEndObject();
        }

        json.WriteEndObject();
    }

    private static Task ListAnalyzers(HttpServerRequest request, Database database) =>
        List(request, Analyzers, AnalyzersOf(database));

    private static Task ListSorters(HttpServerRequest request, Database database) =>
        List(request, Sorters, SortersOf(database));

    private static Task List(HttpServerRequest request, string member, IEnumerable<(string Name, string Code)> definitions) =>
        request.JsonAsync((member, definitions), static (json, state) =>
        {
            json.WriteStartObject();
            Write(json, state.member, state.definitions);
            json.WriteEndObject();
        });

    private static async Task PutAnalyzers(HttpServerRequest request, Database database)
    {
        IReadOnlyList<(string Name, string Code)> given = await ReadAsync(request, Analyzers).ConfigureAwait(false);
        database.Indexes.Analyzers.Put([.. given.Select(static one => new AnalyzerDefinition(one.Name, one.Code))]);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static async Task PutSorters(HttpServerRequest request, Database database)
    {
        IReadOnlyList<(string Name, string Code)> given = await ReadAsync(request, Sorters).ConfigureAwait(false);
        database.Sorters.Put([.. given.Select(static one => new SorterDefinition(one.Name, one.Code))]);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static Task DeleteAnalyzer(HttpServerRequest request, Database database)
    {
        database.Indexes.Analyzers.Delete(request.RequiredParameter("name")); // deleting one that does not exist succeeds
        return request.NoContentAsync();
    }

    private static Task DeleteSorter(HttpServerRequest request, Database database)
    {
        database.Sorters.Delete(request.RequiredParameter("name")); // same as above
        return request.NoContentAsync();
    }

    private static Task ListSharedAnalyzers(HttpServerRequest request) => List(
        request, Analyzers, SharedOf(request, Analyzers).Analyzers.Select(static one => (one.Name, one.Code)));

    private static Task ListSharedSorters(HttpServerRequest request) => List(
        request, Sorters, SharedOf(request, Sorters).Sorters.Select(static one => (one.Name, one.Code)));

    private static async Task PutSharedAnalyzers(HttpServerRequest request)
    {
        IReadOnlyList<(string Name, string Code)> given = await ReadAsync(request, Analyzers).ConfigureAwait(false);
        SharedOf(request, Analyzers).PutAnalyzers([.. given.Select(static one => new AnalyzerDefinition(one.Name, one.Code))]);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static async Task PutSharedSorters(HttpServerRequest request)
    {
        IReadOnlyList<(string Name, string Code)> given = await ReadAsync(request, Sorters).ConfigureAwait(false);
        SharedOf(request, Sorters).PutSorters([.. given.Select(static one => new SorterDefinition(one.Name, one.Code))]);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static Task DeleteSharedAnalyzer(HttpServerRequest request)
    {
        SharedOf(request, Analyzers).DeleteAnalyzer(request.RequiredParameter("name")); // deleting one that is missing succeeds
        return request.NoContentAsync();
    }

    private static Task DeleteSharedSorter(HttpServerRequest request)
    {
        SharedOf(request, Sorters).DeleteSorter(request.RequiredParameter("name")); // as above
        return request.NoContentAsync();
    }

    private static SharedDefinitions SharedOf(HttpServerRequest request, string what) =>
        request.RequireShared(what, what.ToLowerInvariant());

    private static async Task<IReadOnlyList<(string Name, string Code)>> ReadAsync(HttpServerRequest request, string member)
    {
        using RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false);
        using JsonDocument command = WireJson.ParseObject(body, $"{{\"{member}\":[{{\"Name\":\"…\",\"Code\":\"…\"}}]}}");
        if (!command.RootElement.TryGetProperty(member, out JsonElement given)
            || given.ValueKind != JsonValueKind.Array
            || given.GetArrayLength() == 0)
            throw WireException.BadRequest($"The request body lacks '{member}', an array of definitions.");
        return [.. given.EnumerateArray().Select(Read)];
    }

    private static (string Name, string Code) Read(JsonElement json) =>
        json.ValueKind == JsonValueKind.Object
        && json.TryGetProperty("Name"u8, out JsonElement name)
        && json.TryGetProperty("Code"u8, out JsonElement code)
        && name.ValueKind == JsonValueKind.String
        && code.ValueKind == JsonValueKind.String
            ? (name.GetString() ?? "", code.GetString() ?? "")
            : throw WireException.BadRequest(
                "A definition lacks its 'Name' or its 'Code', both of which are texts. Nothing was changed.");
}
