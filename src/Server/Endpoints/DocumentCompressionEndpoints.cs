using System.Text.Json;
using Treepie.Kinds;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>The configuration of document compression, in the format of RavenDB's clients.</summary>
internal static class DocumentCompressionEndpoints
{
    /// <summary>Enough for the names of collections.</summary>
    private const int MaxBodyBytes = 1024 * 1024;

    private const string Member = "DocumentsCompression";

    public static void Map(Routes routes)
    {
        routes.Database("GET", "/documents-compression/config", AccessLevel.DatabaseRead, Get);
        routes.Database("POST", "/admin/documents-compression/config", AccessLevel.DatabaseAdmin, Set);
    }

    /// <summary>Writes the configuration as a member of a database record.</summary>
    public static void WriteRecord(Utf8JsonWriter json, Database database)
    {
        if (database.Compression.Configuration is not { } configuration)
            return;
        json.WritePropertyName(Member);
        configuration.WriteTo(json);
    }

    /// <summary>Reads the configuration from a database record; null if there is none.</summary>
    public static DocumentCompressionConfiguration? ReadRecord(JsonElement record) =>
        record.TryGetProperty(Member, out JsonElement given) && given.ValueKind == JsonValueKind.Object ? Read(given) : null;

    private static Task Get(HttpServerRequest request, Database database) =>
        database.Compression.Configuration is { } configuration
            ? request.JsonAsync(configuration, static (json, configuration) => configuration.WriteTo(json))
            : request.EmptyAsync(Microsoft.AspNetCore.Http.StatusCodes.Status404NotFound);

    private static async Task Set(HttpServerRequest request, Database database)
    {
        DocumentCompressionConfiguration? configuration;
        using (RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false))
        using (JsonDocument json = WireJson.ParseObject(body, "{\"Collections\":[…],\"CompressAllCollections\":false}"))
            configuration = Read(json.RootElement);
        await database.Compression.ConfigureAsync(configuration, request.Aborted).ConfigureAwait(false);
        await request.JsonAsync(database.LastEtag, static (json, etag) =>
        {
            json.WriteStartObject();
            json.WriteNumber("RaftCommandIndex", etag);
            json.WriteEndObject();
        }).ConfigureAwait(false);
    }

    private static DocumentCompressionConfiguration? Read(JsonElement json)
    {
        var configuration = DocumentCompressionConfiguration.Read(json);
        return configuration.AllCollections || configuration.Collections.Count > 0 ? configuration : null;
    }
}
