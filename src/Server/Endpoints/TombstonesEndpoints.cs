using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>Deletes tombstones that nobody needs any more.</summary>
internal static class TombstonesEndpoints
{
    public static void Map(Routes routes) =>
        routes.Database("POST", "/admin/tombstones/cleanup", AccessLevel.DatabaseAdmin, CleanAsync);

    private static async Task CleanAsync(HttpServerRequest request, Database database)
    {
        long cleaned = await database.CleanTombstonesAsync(null, request.Aborted).ConfigureAwait(false);
        await request.JsonAsync(cleaned, static (json, value) =>
        {
            json.WriteStartObject();
            json.WriteNumber("Value", value);
            json.WriteEndObject();
        }).ConfigureAwait(false);
    }
}
