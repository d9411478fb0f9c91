using Treepie;
using Treepie.Server;
using Treepie.Server.Databases;
using Treepie.Server.Endpoints;

namespace Microsoft.AspNetCore.Builder;

/// <summary>Maps Treepie's HTTP API into an ASP.NET program.</summary>
/// <remarks>
/// What is mapped has no authentication of its own: bind to loopback, or put an authorization policy on it
/// (<c>app.MapTreepie().RequireAuthorization()</c>). Requests that come over an address which other machines reach are refused
/// unless there is a policy, the caller is authenticated, or the program says <c>AllowAnonymous()</c>. Under a group
/// (<c>app.MapGroup("/db").MapTreepie()</c>) clients use the group's address, here <c>http://localhost:5000/db</c>.
/// </remarks>
public static class TreepieEndpointExtensions
{
    /// <summary>
    /// Maps the API over all databases of <see cref="TreepieServerOptions.DataDirectory"/>; needs <c>services.AddTreepie()</c>.
    /// </summary>
    /// <exception cref="InvalidOperationException"><c>AddTreepie</c> was not called.</exception>
    public static IEndpointConventionBuilder MapTreepie(this IEndpointRouteBuilder endpoints)
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        return Map(endpoints, new CatalogSource(RequireServices(endpoints).Catalog));
    }

    /// <summary>
    /// Maps the API over a catalogue of the program's own, which stays the program's to dispose, after the app has stopped.
    /// </summary>
    public static IEndpointConventionBuilder MapTreepie(this IEndpointRouteBuilder endpoints, DatabaseCatalog catalog)
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        ArgumentNullException.ThrowIfNull(catalog);
        return Map(endpoints, new CatalogSource(catalog));
    }

    /// <summary>
    /// Maps the API over one database, under its name, which stays the program's to dispose, after the app has stopped. Clients
    /// can neither create nor delete databases here.
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
