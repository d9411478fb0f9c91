using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Maps handlers to routes, each inside the <see cref="RequestFrame"/>. Uses plain delegates on endpoint routing, without
/// reflection or binding. Each route specifies the required level of access; there is no default.
/// </summary>
internal sealed class Routes(IEndpointRouteBuilder endpoints, RequestFrame frame)
{
    /// <summary>The name of the route parameter with the name of the database.</summary>
    public const string DatabaseParameter = "database";

    private const string DatabasePrefix = "/databases/{" + DatabaseParameter + "}";

    /// <summary>Maps a route of the server as a whole.</summary>
    public void Server(string method, string pattern, AccessLevel level, Func<HttpServerRequest, Task> handler) =>
        Map(method, pattern, new RequiredAccess(level), http => frame.ServeAsync(http, handler));

    /// <summary>Maps a route about the database that a query parameter names.</summary>
    public void ServerOf(
        string parameter, string method, string pattern, AccessLevel level, Func<HttpServerRequest, Task> handler) =>
        Map(method, pattern, new RequiredAccess(level, parameter, InQuery: true), http => frame.ServeAsync(http, handler));

    /// <summary>
    /// Maps a route below <c>/databases/{name}</c>; the database stays open until the handler has finished.
    /// </summary>
    public void Database(string method, string pattern, AccessLevel level, Func<HttpServerRequest, Database, Task> handler) =>
        DatabaseLease(method, pattern, level, (request, lease) => handler(request, lease.Database));

    /// <summary>Same as <see cref="Database"/>, for handlers that observe the closing of the database.</summary>
    public void DatabaseLease(
        string method, string pattern, AccessLevel level, Func<HttpServerRequest, DatabaseLease, Task> handler)
    {
        Map(
            method, DatabasePrefix + pattern, new RequiredAccess(level, DatabaseParameter),
            http => frame.ServeDatabaseAsync(http, ServeAsync));

        Task ServeAsync(HttpServerRequest request, DatabaseLease lease)
        {
            ConfigurationEndpoints.Announce(request, lease.Database);
            return handler(request, lease);
        }
    }

    /// <summary>Maps all methods of a path that no other route handles.</summary>
    public void Rest(string pattern, AccessLevel level, Func<HttpServerRequest, Task> handler) =>
        MapLast(pattern, level, handler, order: int.MaxValue - 1);

    /// <summary>Maps all unknown paths below a prefix to an error.</summary>
    public void Unknown(string pattern) => MapLast(
        pattern, AccessLevel.ValidUser,
        static request => throw WireException.RouteNotFound(request.Method, request.Http.Request.Path.Value ?? "/"),
        order: int.MaxValue);

    private void Map(string method, string pattern, RequiredAccess access, RequestDelegate serve) =>
        endpoints.MapMethods(pattern, [method], serve).WithMetadata(access);

    private void MapLast(string pattern, AccessLevel level, Func<HttpServerRequest, Task> handler, int order)
    {
        string? parameter = pattern.StartsWith(DatabasePrefix, StringComparison.Ordinal) ? DatabaseParameter : null;
        endpoints.Map(pattern, http => frame.ServeAsync(http, handler)).WithMetadata(new RequiredAccess(level, parameter))
            .Add(endpoint => ((RouteEndpointBuilder)endpoint).Order = order);
    }
}
