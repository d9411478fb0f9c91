using Treepie.Server.Http;
using Treepie.Server.Security;
using Treepie.Writes;

namespace Treepie.Server.Endpoints;

/// <summary>HiLo ranges, from which clients generate ids.</summary>
internal static class HiLoEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database("GET", "/hilo/next", AccessLevel.DatabaseReadWrite, Next);
        routes.Database("PUT", "/hilo/return", AccessLevel.DatabaseReadWrite, Return);
    }

    private static async Task Next(HttpServerRequest request, Database database)
    {
        string tag = request.RequiredParameter("tag");
        string separator = request.Parameter("identityPartsSeparator") ?? "/";
        if (separator.Length != 1)
            throw WireException.BadRequest($"'identityPartsSeparator' is '{separator}'; it must be one character.");

        DateTime lastRangeAt = default;
        if (request.Parameter("lastRangeAt") is { Length: > 0 } time && !WireTime.TryParseTime(time, out lastRangeAt))
            throw WireException.BadRequest($"'lastRangeAt' is '{time}'; it must be a time such as 2026-01-31T12:00:00.0000000Z.");

        var asked = new HiLoRequest(
            tag, request.Number("lastBatchSize", 0), lastRangeAt, request.Number("lastMax", 0), separator[0]);
        HiLoRange range = await database.NextHiLoRangeAsync(asked, request.Aborted).ConfigureAwait(false);
        await request.JsonAsync(range, static (json, range) =>
        {
            json.WriteStartObject();
            json.WriteString("Prefix", range.Prefix);
            json.WriteNumber("Low", range.Low);
            json.WriteNumber("High", range.High);
            json.WriteNumber("LastSize", range.LastSize);
            json.WriteString("ServerTag", range.ServerTag);
            json.WriteString("LastRangeAt", WireTime.ToWire(range.LastRangeAt));
            json.WriteEndObject();
        }).ConfigureAwait(false);
    }

    private static async Task Return(HttpServerRequest request, Database database)
    {
        string tag = request.RequiredParameter("tag");
        await database.ReturnHiLoRangeAsync(tag, request.Number("end", 0), request.Number("last", 0), request.Aborted)
            .ConfigureAwait(false);
        await request.NoContentAsync().ConfigureAwait(false);
    }
}
