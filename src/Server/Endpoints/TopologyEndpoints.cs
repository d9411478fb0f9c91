using System.Text.Json;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// The topology of a database, always this single node. Clients send all other requests to the address in it: the public one
/// if it is configured, otherwise the one they used.
/// </summary>
internal static class TopologyEndpoints
{
    /// <summary>The tag of the only node.</summary>
    public const string NodeTag = "A";

    /// <summary>The topology of a single node never changes.</summary>
    private const int TopologyEtag = 1;

    public static void Map(Routes routes)
    {
        routes.ServerOf("name", "GET", "/topology", AccessLevel.DatabaseRead, DatabaseTopology);
        routes.Server("GET", "/cluster/topology", AccessLevel.ValidUser, ClusterTopology);
        routes.Server("GET", "/cluster/node-info", AccessLevel.ValidUser, NodeInfo);
    }

    /// <summary>
    /// Returns the address for clients: the public one, or the one with which the client requested <paramref name="suffix"/>,
    /// without this suffix.
    /// </summary>
    public static string BaseUrl(HttpServerRequest request, string suffix)
    {
        if (request.Server.Options.PublicUrl is { } publicUrl)
            return publicUrl.AbsoluteUri.TrimEnd('/');

        HttpRequest http = request.Http.Request;
        string path = (http.PathBase + http.Path).Value!.TrimEnd('/'); // a path that matched a route is not null
        return $"{http.Scheme}://{http.Host.Value}{path[..^suffix.Length]}";
    }

    private static Task DatabaseTopology(HttpServerRequest request)
    {
        string name = request.RequiredParameter("name");
        if (!request.Server.Databases.Exists(name))
            throw WireException.DatabaseDoesNotExist(name);

        return request.JsonAsync((Name: name, Url: BaseUrl(request, "/topology")), static (json, state) =>
        {
            json.WriteStartObject();
            json.WritePropertyName("Topology");
            WriteMembers(json);
            json.WriteNumber("Etag", TopologyEtag);
            json.WriteStartArray("Nodes");
            json.WriteStartObject();
            json.WriteString("Url", state.Url);
            json.WriteString("ClusterTag", NodeTag);
            json.WriteString("Database", state.Name);
            json.WriteString("ServerRole", "Member");
            json.WriteEndObject();
            json.WriteEndArray();
            json.WriteEndObject();
        });
    }

    private static Task ClusterTopology(HttpServerRequest request) =>
        request.JsonAsync((Url: BaseUrl(request, "/cluster/topology"), request.Server.ServerId), static (json, state) =>
        {
            json.WriteStartObject();
            json.WriteStartObject("Topology");
            json.WriteString("TopologyId", state.ServerId);
            WriteNode(json, "AllNodes", state.Url);
            WriteNode(json, "Members", state.Url);
            json.WriteStartObject("Promotables");
            json.WriteEndObject();
            json.WriteStartObject("Watchers");
            json.WriteEndObject();
            json.WriteString("LastNodeId", NodeTag);
            json.WriteNumber("Etag", TopologyEtag);
            json.WriteEndObject();
            json.WriteNumber("Etag", TopologyEtag);
            json.WriteString("Leader", NodeTag);
            json.WriteString("NodeTag", NodeTag);
            json.WriteString("ServerRole", "Member");
            json.WriteNumber("CurrentTerm", 1);
            json.WriteStartObject("Status");
            json.WriteEndObject();
            json.WriteEndObject();
        });

    private static Task NodeInfo(HttpServerRequest request) => request.JsonAsync(request.Server, static (json, server) =>
    {
        json.WriteStartObject();
        json.WriteString("NodeTag", NodeTag);
        json.WriteString("TopologyId", server.ServerId);
        json.WriteNull("Certificate");
        json.WriteString("ServerId", server.ServerId);
        json.WriteString("ServerRole", "Member");
        json.WriteString("CurrentState", "Leader");
        json.WriteNumber("NumberOfCores", Environment.ProcessorCount);
        json.WriteEndObject();
    });

    /// <summary>Writes the topology of a database: only this node.</summary>
    public static void WriteMembers(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteStartArray("Members");
        json.WriteStringValue(NodeTag);
        json.WriteEndArray();
        json.WriteStartArray("Promotables");
        json.WriteEndArray();
        json.WriteStartArray("Rehabs");
        json.WriteEndArray();
        json.WriteEndObject();
    }

    private static void WriteNode(Utf8JsonWriter json, string name, string url)
    {
        json.WriteStartObject(name);
        json.WriteString(NodeTag, url);
        json.WriteEndObject();
    }
}
