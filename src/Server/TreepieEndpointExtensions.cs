using Treepie;
using Treepie.Server;
using Treepie.Server.Databases;
using Treepie.Server.Endpoints;

namespace Microsoft.AspNetCore.Builder;

/// <summary>Maps Treepie's HTTP API in an ASP.NET Core application.</summary>
/// <remarks>
/// The endpoints have no authentication of their own: bind to loopback, or apply an authorization policy
/// (<c>app.MapTreepie().RequireAuthorization()</c>). Requests to an address that other machines can reach are rejected unless
/// there is a policy, the caller is authenticated, or the application calls <c>AllowAnonymous()</c>. In a group
/// (<c>app.MapGroup("/db").MapTreepie()</c>), clients use the address of the group, here <c>http://localhost:5000/db</c>.
/// </remarks>
public static class TreepieEndpointExtensions
{
    /// <summary>
    /// Maps the API for all databases in <see cref="TreepieServerOptions.DataDirectory"/>; requires <c>services.AddTreepie()</c>.
    /// </summary>
    /// <exception cref="InvalidOperationException"><c>AddTreepie</c> was not called.</exception>
    public static IEndpointConventionBuilder MapTreepie(this IEndpointRouteBuilder endpoints)
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        return Map(endpoints, new CatalogSource(RequireServices(endpoints).Catalog));
    }

    /// <summary>
    /// Maps the API for the databases of a catalogue, which the application disposes after the host has stopped.
    /// </summary>
    public static IEndpointConventionBuilder MapTreepie(this IEndpointRouteBuilder endpoints, DatabaseCatalog catalog)
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        ArgumentNullException.ThrowIfNull(catalog);
        return Map(endpoints, new CatalogSource(catalog));
    }

    /// <summary>
    /// Maps the API for one database, under its name, which the application disposes after the host has stopped. Clients cannot
    /// create or delete databases.
    /// </summary>
    public static IEndpointConventionBuilder MapTreepie(this IEndpointRouteBuilder endpoints, Database database)
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        ArgumentNullException.ThrowIfNull(database);
        return Map(endpoints, new SingleDatabaseSource(database));
    }

    private static IEndpointConventionBuilder Map(IEndpointRouteBuilder endpoints, IDatabaseSource source)
    {
        ServerContext server = RequireServices(endpoints).CreateContext(source);
        return AllEndpoints.Map(endpoints, server, alone: false);
    }

    private static TreepieServices RequireServices(IEndpointRouteBuilder endpoints) =>
        endpoints.ServiceProvider.GetService<TreepieServices>()
        ?? throw new InvalidOperationException("MapTreepie needs services.AddTreepie() before the app is built.");
}
