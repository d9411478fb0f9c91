using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>The version of the server, and the client configuration for all databases, which is always empty.</summary>
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
}
