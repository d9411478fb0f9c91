using Treepie.Server.Databases;
using Treepie.Server.Http;

namespace Treepie.Server.Endpoints;

/// <summary>
/// Puts handlers at their routes, each inside the <see cref="RequestFrame"/>. Plain delegates on endpoint routing: no reflection, no binding.
/// </summary>
internal sealed class Routes(IEndpointRouteBuilder endpoints, RequestFrame frame)
{
    /// <summary>Name of the route parameter that holds the database's name.</summary>
    public const string DatabaseParameter = "database";

    private const string DatabasePrefix = "/databases/{" + DatabaseParameter + "}";

    /// <summary>A route of the server as a whole.</summary>
    public void Server(string method, string pattern, Func<HttpServerRequest, Task> handler) =>
        endpoints.MapMethods(pattern, [method], http => frame.ServeAsync(http, handler));

    /// <summary>A route below <c>/databases/{name}</c>; the database stays open until the handler is done.</summary>
    public void Database(string method, string pattern, Func<HttpServerRequest, Database, Task> handler) =>
        DatabaseLease(method, pattern, (request, lease) => handler(request, lease.Database));

    /// <summary>As <see cref="Database"/>, for handlers that watch the database close.</summary>
    public void DatabaseLease(string method, string pattern, Func<HttpServerRequest, DatabaseLease, Task> handler) =>
        endpoints.MapMethods(DatabasePrefix + pattern, [method], http => frame.ServeDatabaseAsync(http, handler));

    /// <summary>Every method of a path, where no other route takes it.</summary>
    public void Rest(string pattern, Func<HttpServerRequest, Task> handler) => MapLast(pattern, handler, order: int.MaxValue - 1);

    /// <summary>Everything below a prefix that nobody knows.</summary>
    public void Unknown(string pattern) => MapLast(
        pattern, static request => throw WireException.RouteNotFound(request.Method, request.Http.Request.Path.Value ?? "/"), order: int.MaxValue);

    private void MapLast(string pattern, Func<HttpServerRequest, Task> handler, int order) =>
        endpoints.Map(pattern, http => frame.ServeAsync(http, handler)).Add(endpoint => ((RouteEndpointBuilder)endpoint).Order = order);
}
