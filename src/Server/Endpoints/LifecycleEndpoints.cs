using System.Text.Json;
using Treepie.Lifecycle;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>The configuration of expiration, refresh and archival, in the format of RavenDB's clients.</summary>
internal static class LifecycleEndpoints
{
    /// <summary>Much more than a configuration needs.</summary>
    private const int MaxBodyBytes = 64 * 1024;

    public static void Map(Routes routes)
    {
        foreach ((LifecycleTask task, _, string frequency) in RecordSettings.LifecycleTasks)
        {
            string path = task switch
            {
                LifecycleTask.Expiration => "expiration",
                LifecycleTask.Refresh => "refresh",
                _ => "data-archival",
            };
            routes.Database(
                "GET", $"/{path}/config", AccessLevel.DatabaseRead,
                (request, database) => Get(request, database, task, frequency));
            routes.Database(
                "GET", $"/admin/{path}/config", AccessLevel.DatabaseAdmin,
                (request, database) => Get(request, database, task, frequency));
            routes.Database(
                "POST", $"/admin/{path}/config", AccessLevel.DatabaseAdmin,
                (request, database) => Set(request, database, task, frequency));
        }
    }

    /// <summary>Writes the settings as members of a database record.</summary>
    public static void WriteRecord(Utf8JsonWriter json, Database database)
    {
        foreach ((LifecycleTask task, string member, string frequency) in RecordSettings.LifecycleTasks)
        {
            if (database.Lifecycle.Get(task) is not { } settings)
                continue;
            json.WritePropertyName(member);
            Write(json, settings, frequency);
        }
    }

    /// <summary>Reads the settings in a database record.</summary>
    public static IReadOnlyList<(LifecycleTask Task, LifecycleSettings Settings)> ReadRecord(JsonElement record)
    {
        List<(LifecycleTask, LifecycleSettings)> settings = [];
        foreach ((LifecycleTask task, string member, string frequency) in RecordSettings.LifecycleTasks)
            if (record.TryGetProperty(member, out JsonElement given) && given.ValueKind == JsonValueKind.Object)
                settings.Add((task, Read(given, frequency)));
        return settings;
    }

    private static Task Get(HttpServerRequest request, Database database, LifecycleTask task, string frequency)
    {
        if (database.Lifecycle.Get(task) is not { } settings)
            return request.EmptyAsync(Microsoft.AspNetCore.Http.StatusCodes.Status404NotFound);
        return request.JsonAsync((settings, frequency), static (json, state) => Write(json, state.settings, state.frequency));
    }

    private static async Task Set(HttpServerRequest request, Database database, LifecycleTask task, string frequency)
    {
        LifecycleSettings settings;
        using (RequestBody body = await request.ReadBodyAsync(MaxBodyBytes).ConfigureAwait(false))
        using (JsonDocument json = WireJson.ParseObject(body, $"{{\"Disabled\":false,\"{frequency}\":60}}"))
            settings = Read(json.RootElement, frequency);

        await database.Lifecycle.SetAsync(task, settings, request.Aborted).ConfigureAwait(false);
        await request.JsonAsync(database.LastEtag, static (json, etag) =>
        {
            json.WriteStartObject();
            json.WriteNumber("RaftCommandIndex", etag);
            json.WriteEndObject();
        }).ConfigureAwait(false);
    }

    private static LifecycleSettings Read(JsonElement json, string frequency)
    {
        var settings = new LifecycleSettings
        {
            IsDisabled = WireJson.Flag(json, "Disabled"),
            MaxItemsPerRun = Number(json, "MaxItemsToProcess")
        };
        return Number(json, frequency) is { } seconds
            ? settings with { Frequency = TimeSpan.FromSeconds(Math.Clamp(seconds, 0, int.MaxValue)) }
            : settings;
    }

    private static long? Number(JsonElement json, string name)
    {
        if (!json.TryGetProperty(name, out JsonElement value) || value.ValueKind == JsonValueKind.Null)
            return null;
        return value.ValueKind == JsonValueKind.Number && value.TryGetInt64(out long number)
            ? number
            : throw WireException.BadRequest(
                $"'{name}' is {value.GetRawText()}; expected is a whole number. Nothing was changed.");
    }

    private static void Write(Utf8JsonWriter json, LifecycleSettings settings, string frequency)
    {
        json.WriteStartObject();
        json.WriteBoolean("Disabled", settings.IsDisabled);
        json.WriteNumber(frequency, (long)settings.Frequency.TotalSeconds);
        if (settings.MaxItemsPerRun is { } most)
            json.WriteNumber("MaxItemsToProcess", most);
        else
            json.WriteNull("MaxItemsToProcess");
        json.WriteEndObject();
    }
}
