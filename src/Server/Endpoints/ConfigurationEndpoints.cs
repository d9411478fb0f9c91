using System.Text.Json;
using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Configuration stored in a database for others: of clients, which read it when it changes; of the studio; settings by key;
/// and the resolution of conflicts, which do not occur on a single node.
/// </summary>
internal static class ConfigurationEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Server("GET", "/configuration/client", AccessLevel.ValidUser, GetSharedClient);
        routes.Server("PUT", "/admin/configuration/client", AccessLevel.Operator, PutSharedClient);
        routes.Database("GET", "/configuration/client", AccessLevel.DatabaseRead, GetClient);
        routes.Database(
            "PUT", "/admin/configuration/client", AccessLevel.DatabaseAdmin,
            (request, database) => Put(request, database, RecordSettings.Client));
        routes.Database("GET", "/configuration/studio", AccessLevel.DatabaseRead, GetStudio);
        routes.Database(
            "PUT", "/admin/configuration/studio", AccessLevel.DatabaseAdmin,
            (request, database) => Put(request, database, RecordSettings.Studio));
        routes.Database("PUT", "/admin/configuration/settings", AccessLevel.DatabaseAdmin, PutSettings);
        routes.Database("POST", "/admin/revisions/conflicts/config", AccessLevel.DatabaseAdmin, PutRevisionsForConflicts);
        routes.ServerOf("name", "POST", "/admin/replication/conflicts/solver", AccessLevel.DatabaseAdmin, PutSolver);
    }

    /// <summary>Sets a header if the client has an outdated configuration, so that it reads the current one.</summary>
    public static void Announce(HttpServerRequest request, Database database)
    {
        if (request.Header("Client-Configuration-Etag") is not { Length: > 0 } known)
            return;
        try
        {
            if (known.Trim('"') != EtagOfClient(request, database).ToString(System.Globalization.CultureInfo.InvariantCulture))
                request.SetHeader("Refresh-Client-Configuration", "true");
        }
        catch (TreepieException)
        {
            // The shared configuration cannot be read: clients keep theirs, and their requests do not fail because of it.
        }
    }

    /// <summary>Writes the configuration as members of a database record.</summary>
    public static void WriteRecord(Utf8JsonWriter json, Database? database)
    {
        foreach ((string member, string name) in RecordSettings.All)
        {
            ReadOnlyMemory<byte>? value = database?.Settings.Get(name);
            if (value is null && name != RecordSettings.ByKey)
                continue;
            json.WritePropertyName(member);
            json.WriteRawValue(value is { } given ? given.Span : "{}"u8);
        }
    }

    /// <summary>Replaces the configuration among the settings of programs by that of a database record.</summary>
    public static void ReadRecord(JsonElement record, Dictionary<string, ReadOnlyMemory<byte>> settings)
    {
        foreach ((string member, string name) in RecordSettings.All)
        {
            settings.Remove(name);
            if (!record.TryGetProperty(member, out JsonElement given) || given.ValueKind == JsonValueKind.Null)
                continue;
            if (given.ValueKind != JsonValueKind.Object)
                throw WireException.BadRequest($"'{member}' of the database record is not an object. Nothing was changed.");
            if (name == RecordSettings.ByKey)
                RequireTexts(given);
            if (name != RecordSettings.ByKey || given.EnumerateObject().MoveNext())
                settings[name] = System.Text.Encoding.UTF8.GetBytes(given.GetRawText());
        }
    }

    /// <summary>
    /// The configuration of the database or, where it has none or has disabled it, the one shared by all databases.
    /// </summary>
    private static Task GetClient(HttpServerRequest request, Database database)
    {
        long etag = EtagOfClient(request, database); // read before the values, so that a client can miss no change
        ReadOnlyMemory<byte>? own = database.Settings.Get(RecordSettings.Client), shared = SharedClient(request).Json;
        bool isShared = shared is { } all && !IsDisabled(all) && (own is not { } given || IsDisabled(given));
        return WriteClient(request, isShared ? shared : own, etag);
    }

    /// <summary>The shared configuration itself, which clients read without an etag around it.</summary>
    private static Task GetSharedClient(HttpServerRequest request) => request.JsonAsync(
        SharedClient(request).Json, static (json, given) => json.WriteRawValue(given is { } own ? own.Span : "{}"u8));

    // Clients read the etag with a regular expression that does not allow a space after the colon.
    private static Task WriteClient(HttpServerRequest request, ReadOnlyMemory<byte>? configuration, long etag) =>
        request.JsonAsync((etag, configuration), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteNumber("Etag", state.etag);
            json.WritePropertyName("Configuration");
            if (state.configuration is { } given)
                json.WriteRawValue(given.Span);
            else
                json.WriteNullValue();
            json.WriteEndObject();
        });

    /// <summary>Grows with each change of either configuration.</summary>
    private static long EtagOfClient(HttpServerRequest request, Database database) =>
        database.Settings.Etag(RecordSettings.Client) + SharedClient(request).Etag;

    private static (ReadOnlyMemory<byte>? Json, long Etag) SharedClient(HttpServerRequest request) =>
        request.Server.Databases.Shared?.Setting(RecordSettings.Client) ?? (null, 0);

    private static bool IsDisabled(ReadOnlyMemory<byte> configuration)
    {
        using var json = JsonDocument.Parse(configuration);
        return json.RootElement.TryGetProperty("Disabled"u8, out JsonElement disabled)
            && disabled.ValueKind == JsonValueKind.True;
    }

    private static async Task PutSharedClient(HttpServerRequest request)
    {
        SharedDefinitions shared = request.RequireShared("Configurations of clients", "configuration/client");
        await SetAsync(request, json => shared.SetSettingAsync(RecordSettings.Client, json, request.Aborted))
            .ConfigureAwait(false);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static Task GetStudio(HttpServerRequest request, Database database) =>
        database.Settings.Get(RecordSettings.Studio) is { } given
            ? request.JsonAsync(given, static (json, given) => json.WriteRawValue(given.Span))
            : request.EmptyAsync(StatusCodes.Status404NotFound);

    private static async Task Put(HttpServerRequest request, Database database, string name)
    {
        await SetAsync(request, database, name).ConfigureAwait(false);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static async Task PutSettings(HttpServerRequest request, Database database)
    {
        await SetAsync(request, database, RecordSettings.ByKey, RequireTexts).ConfigureAwait(false);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static void RequireTexts(JsonElement settings)
    {
        foreach (JsonProperty setting in settings.EnumerateObject())
            if (setting.Value.ValueKind is not (JsonValueKind.String or JsonValueKind.Null))
                throw WireException.BadRequest(
                    $"The setting '{setting.Name}' is not a string. Nothing was changed. Send it as a string.");
    }

    private static async Task PutRevisionsForConflicts(HttpServerRequest request, Database database)
    {
        await SetAsync(request, database, RecordSettings.RevisionsForConflicts).ConfigureAwait(false);
        await request.JsonAsync(database.LastEtag, static (json, etag) =>
        {
            json.WriteStartObject();
            json.WriteNumber("RaftCommandIndex", etag);
            json.WriteEndObject();
        }).ConfigureAwait(false);
    }

    private static async Task PutSolver(HttpServerRequest request)
    {
        string name = request.RequiredParameter("name");
        using DatabaseLease lease = request.Server.Databases.Enter(name);
        await SetAsync(request, lease.Database, RecordSettings.ConflictSolver).ConfigureAwait(false);
        await request.JsonAsync((name, lease.Database), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteString("Key", "db/" + state.name);
            json.WriteNumber("RaftCommandIndex", state.Database.LastEtag);
            json.WritePropertyName("Solver");
            json.WriteRawValue(state.Database.Settings.Get(RecordSettings.ConflictSolver)!.Value.Span); // it was just set
            json.WriteEndObject();
        }).ConfigureAwait(false);
    }

    private static Task SetAsync(
        HttpServerRequest request, Database database, string name, Action<JsonElement>? check = null) =>
        SetAsync(request, json => database.Settings.SetAsync(name, json, request.Aborted), check);

    private static async Task SetAsync(
        HttpServerRequest request, Func<ReadOnlyMemory<byte>, Task> store, Action<JsonElement>? check = null)
    {
        using RequestBody body = await request.ReadBodyAsync(DatabaseSettings.MaxBytes).ConfigureAwait(false);
        using (JsonDocument json = WireJson.ParseObject(body, "a configuration"))
            check?.Invoke(json.RootElement);
        await store(body.Memory).ConfigureAwait(false);
    }
}
