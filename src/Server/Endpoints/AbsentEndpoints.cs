using System.Text.Json;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Reads of what this server does not have: there is none of it, and that is the answer. Writing it is refused by name
/// (<see cref="UnbuiltEndpoints"/>).
/// </summary>
internal static class AbsentEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Database(
            "GET", "/admin/connection-strings", AccessLevel.DatabaseAdmin,
            static (request, _) => request.JsonAsync(WriteConnectionStrings));
        routes.Database(
            "GET", "/admin/attachments/remote/config", AccessLevel.DatabaseAdmin,
            static (request, _) => request.JsonAsync(static json => WriteDisabled(json, "Destinations")));
        routes.Database(
            "GET", "/schema-validation/config", AccessLevel.DatabaseRead,
            static (request, _) => request.JsonAsync(static json => WriteDisabled(json, "ValidatorsPerCollection")));
    }

    private static void WriteConnectionStrings(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        foreach (string kind in (ReadOnlySpan<string>)["Raven", "Sql", "Olap", "ElasticSearch", "Queue", "Snowflake", "Ai"])
        {
            json.WriteStartObject(kind + "ConnectionStrings");
            json.WriteEndObject();
        }

        json.WriteEndObject();
    }

    private static void WriteDisabled(Utf8JsonWriter json, string none)
    {
        json.WriteStartObject();
        json.WriteBoolean("Disabled", true);
        json.WriteStartObject(none);
        json.WriteEndObject();
        json.WriteEndObject();
    }
}
