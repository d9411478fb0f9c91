using System.Text.Json;
using Treepie.Indexes;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>Controls indexes: lock mode, priority, disabling and pausing.</summary>
internal static class IndexControlEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database("GET", "/indexes/status", AccessLevel.DatabaseRead, Status);
        routes.Database("POST", "/indexes/set-lock", AccessLevel.DatabaseReadWrite, SetLock);
        routes.Database("POST", "/indexes/set-priority", AccessLevel.DatabaseReadWrite, SetPriority);
        routes.Database(
            "POST", "/admin/indexes/enable", AccessLevel.DatabaseAdmin,
            static (request, database) => SetDisabled(request, database, false));
        routes.Database(
            "POST", "/admin/indexes/disable", AccessLevel.DatabaseAdmin,
            static (request, database) => SetDisabled(request, database, true));
        routes.Database(
            "POST", "/admin/indexes/start", AccessLevel.DatabaseAdmin,
            static (request, database) => SetPaused(request, database, false));
        routes.Database(
            "POST", "/admin/indexes/stop", AccessLevel.DatabaseAdmin,
            static (request, database) => SetPaused(request, database, true));
    }

    private static Task Status(HttpServerRequest request, Database database) =>
        request.JsonAsync((Indexes: database.Indexes.List(), database.Indexes.Control.AreAllPaused), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteString("Status", state.AreAllPaused ? "Paused" : "Running");
            json.WriteStartArray("Indexes");
            foreach (IndexStatistics index in state.Indexes)
            {
                json.WriteStartObject();
                json.WriteString("Name", index.Name);
                json.WriteString("Status", IndexWire.StatusOf(index));
                json.WriteEndObject();
            }

            json.WriteEndArray();
            json.WriteEndObject();
        });

    private static async Task SetLock(HttpServerRequest request, Database database)
    {
        (IReadOnlyList<string> names, string? word) = await ReadAsync(request, "Mode").ConfigureAwait(false);
        IndexLockMode mode = IndexSettingsChange.Parse<IndexLockMode>("Mode", word);
        if (names.FirstOrDefault(static name => name.StartsWith("Auto/", StringComparison.OrdinalIgnoreCase)) is { } auto)
            throw WireException.BadRequest(
                $"The index '{auto}' was made by queries and has no definition that could be locked. Nothing was changed.");
        Set(database, names, settings => settings with { LockMode = mode });
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static async Task SetPriority(HttpServerRequest request, Database database)
    {
        (IReadOnlyList<string> names, string? word) = await ReadAsync(request, "Priority").ConfigureAwait(false);
        IndexPriority priority = IndexSettingsChange.Parse<IndexPriority>("Priority", word);
        Set(database, names, settings => settings with { Priority = priority });
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static Task SetDisabled(HttpServerRequest request, Database database, bool isDisabled)
    {
        Set(database, [request.RequiredParameter("name")], settings => settings with { IsDisabled = isDisabled });
        return request.NoContentAsync();
    }

    private static Task SetPaused(HttpServerRequest request, Database database, bool isPaused)
    {
        string? name = request.Parameter("name");
        if (isPaused)
            database.Indexes.Control.Pause(string.IsNullOrEmpty(name) ? null : name);
        else
            database.Indexes.Control.Resume(string.IsNullOrEmpty(name) ? null : name);
        return request.NoContentAsync();
    }

    /// <summary>
    /// Changes the settings of indexes; all names are checked first, so that a rejected request changes nothing.
    /// </summary>
    private static void Set(Database database, IReadOnlyList<string> names, Func<IndexSettings, IndexSettings> change)
    {
        HashSet<string> known = new(database.Indexes.List().Select(static index => index.Name), StringComparer.OrdinalIgnoreCase);
        if (names.FirstOrDefault(name => !known.Contains(name)) is { } unknown)
            throw new IndexNotFoundException(unknown);
        foreach (string name in names)
            database.Indexes.Control.Set(name, change);
    }

    private static async Task<(IReadOnlyList<string> Names, string? Word)> ReadAsync(HttpServerRequest request, string member)
    {
        using RequestBody body = await request.ReadBodyAsync(request.Server.Limits.MaxRequestBytes).ConfigureAwait(false);
        string example = $"{{\"IndexNames\":[\"Users/ByName\"],\"{member}\":\"…\"}}";
        using JsonDocument command = WireJson.ParseObject(body, $"names of indexes and what to set: {example}");
        JsonElement root = command.RootElement;
        bool hasNames = root.TryGetProperty("IndexNames", out JsonElement names) && names.ValueKind == JsonValueKind.Array
            && names.GetArrayLength() > 0 && names.EnumerateArray().All(static name => name.ValueKind == JsonValueKind.String);
        if (!hasNames || !root.TryGetProperty(member, out JsonElement word) || word.ValueKind != JsonValueKind.String)
            throw WireException.BadRequest($"The request body has 'IndexNames', an array of names, and '{member}': {example}.");
        return ([.. names.EnumerateArray().Select(static name => name.GetString() ?? "")], word.GetString());
    }
}
