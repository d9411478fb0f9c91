using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>What the server is, and the configuration of clients for all databases, of which there is none.</summary>
internal static class ServerInfoEndpoints
{
    public static void Map(Routes routes)
    {
        routes.Server("GET", "/build/version", AccessLevel.ValidUser, BuildVersion);
        routes.Server("GET", "/setup/alive", AccessLevel.Anyone, static request => request.NoContentAsync());
        routes.Database("GET", "/healthcheck", AccessLevel.DatabaseRead, static (request, _) => request.NoContentAsync());
    }

    private static Task BuildVersion(HttpServerRequest request) => request.JsonAsync(static json =>
    {
        json.WriteStartObject();
        json.WriteString("ProductVersion", "7.1");
        json.WriteNumber("BuildVersion", 71);
        json.WriteString("CommitHash", "treepie");
        json.WriteString("FullVersion", ProductVersion.Protocol);
        json.WriteString("Product", "Treepie");
        json.WriteString("TreepieVersion", ProductVersion.Own);
        json.WriteEndObject();
    });

    // Clients read the etag with a regular expression that allows no space after the colon.
}
