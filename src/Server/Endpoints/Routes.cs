using Treepie.Server.Databases;
using Treepie.Server.Http;
using Treepie.Server.Security;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Puts handlers at their routes, each inside the <see cref="RequestFrame"/>. Plain delegates on endpoint routing: no reflection,
/// no binding. Each route names the level of access it demands; there is no default.
/// </summary>
internal sealed class Routes(IEndpointRouteBuilder endpoints, RequestFrame frame)
{
    /// <summary>Name of the route parameter that holds the database's name.</summary>
    public const string DatabaseParameter = "database";

    private const string DatabasePrefix = "/databases/{" + DatabaseParameter + "}";

    /// <summary>A route of the server as a whole.</summary>
    public void Server(string method, string pattern, AccessLevel level, Func<HttpServerRequest, Task> handler) =>
        Map(method, pattern, new RequiredAccess(level), http => frame.ServeAsync(http, handler));

    /// <summary>A route that is about the database which a parameter of the query string names.</summary>
    public void ServerOf(
        string parameter, string method, string pattern, AccessLevel level, Func<HttpServerRequest, Task> handler) =>
        Map(method, pattern, new RequiredAccess(level, parameter, InQuery: true), http => frame.ServeAsync(http, handler));

    /// <summary>A route below <c>/databases/{name}</c>; the database stays open until the handler is done.</summary>
    public void Database(string method, string pattern, AccessLevel level, Func<HttpServerRequest, Database, Task> handler) =>
        DatabaseLease(method, pattern, level, (request, lease) => handler(request, lease.Database));

    /// <summary>As <see cref="Database"/>, for handlers that watch the database close.</summary>
    public void DatabaseLease(
        string method, string pattern, AccessLevel level, Func<HttpServerRequest, DatabaseLease, Task> handler) =>
        Map(
            method, DatabasePrefix + pattern, new RequiredAccess(level, DatabaseParameter),
            http => frame.ServeDatabaseAsync(http, (request, lease) =>
            {
                ConfigurationEndpoints.Announce(request, lease.Database);
                return handler(request, lease);
            }));

    /// <summary>Every method of a path, where no other route takes it.</summary>
    public void Rest(string pattern, AccessLevel level, Func<HttpServerRequest, Task> handler) =>
        MapLast(pattern, level, handler, order: int.MaxValue - 1);

    /// <summary>Everything below a prefix that nobody knows.</summary>
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
