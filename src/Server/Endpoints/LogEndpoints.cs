using System.Text.Json;
using Treepie.Server.Http;
using Treepie.Server.Security;
using Treepie.Server.Telemetry;

namespace Treepie.Server.Endpoints;

/// <summary>
/// What the server logs, in the modes that clients know, and its change until the server stops. There is no mode below
/// <c>Information</c>: libraries may log what they were sent there.
/// </summary>
internal static class LogEndpoints
{
    private const int MostBytes = 64 * 1024;

    private static readonly (string Mode, LogLevel Least)[] _modes =
        [("None", LogLevel.None), ("Operations", LogSwitch.AtStart), ("Information", LogLevel.Information)];

    public static void Map(Routes routes)
    {
        routes.Server("GET", "/admin/logs/configuration", AccessLevel.Operator, Get);
        routes.Server("POST", "/admin/logs/configuration", AccessLevel.Operator, Set);
    }

    private static Task Get(HttpServerRequest request)
    {
        ILogger log = request.Server.Logger;
        string current = log.IsEnabled(LogLevel.Information) ? "Information"
            : log.IsEnabled(LogLevel.Critical) ? "Operations"
            : "None";
        // the mode of the next start
        string mode = request.Server.Log is null ? current : ModeOf(LogSwitch.AtStart);
        return request.JsonAsync((current, mode), static (json, modes) =>
        {
            json.WriteStartObject();
            json.WriteString("CurrentMode", modes.current);
            json.WriteString("Mode", modes.mode);
            json.WriteNull("Path");
            json.WriteBoolean("UseUtcTime", true);
            json.WriteNull("RetentionTime");
            json.WriteNull("RetentionSize");
            json.WriteBoolean("Compress", false);
            json.WriteEndObject();
        });
    }

    private static async Task Set(HttpServerRequest request)
    {
        LogSwitch log = request.Server.Log
            ?? throw WireException.NotBuilt(
                "Settings of the log", "The log is that of the program around the server: set its level there.");
        using (RequestBody body = await request.ReadBodyAsync(MostBytes).ConfigureAwait(false))
        using (JsonDocument json = WireJson.ParseObject(body, "the settings of the log"))
            log.Least = Read(json.RootElement);
        await request.NoContentAsync().ConfigureAwait(false);
    }

    private static LogLevel Read(JsonElement settings)
    {
        const string Mode = "Mode", UtcTime = "UseUtcTime"; // lines have no time of their own
        foreach (JsonProperty member in settings.EnumerateObject())
            if (member.Name is not (Mode or UtcTime) && member.Value.ValueKind is not (JsonValueKind.Null or JsonValueKind.False))
                throw WireException.NotBuilt(
                    $"'{member.Name}' of the log",
                    $"The server writes its log to standard error, and has no file of it to keep, to compress or to delete; what "
                        + $"is kept is chosen where it is started. '{Mode}' can be set, until the server stops.");
        string? given = WireJson.Text(settings, Mode, required: true);
        foreach ((string mode, LogLevel least) in _modes)
            if (string.Equals(mode, given, StringComparison.OrdinalIgnoreCase))
                return least;
        throw WireException.BadRequest(
            $"There is no mode '{given}' of the log; there are {string.Join(", ", _modes.Select(static one => one.Mode))}. "
                + $"Nothing was changed.");
    }

    private static string ModeOf(LogLevel level) => _modes.First(one => one.Least == level).Mode;
}
