namespace Treepie.Server.Security;

/// <summary>
/// The access level required by an endpoint, as metadata of its route. Endpoints without it are closed
/// (<see cref="AccessGuard"/>).
/// </summary>
/// <param name="Level">The level.</param>
/// <param name="DatabaseParameter">The parameter with the name of the database, for levels that refer to a database.</param>
/// <param name="InQuery">Whether that is a query parameter; otherwise it is a route parameter.</param>
internal sealed record RequiredAccess(AccessLevel Level, string? DatabaseParameter = null, bool InQuery = false)
{
    /// <summary>
    /// Returns the name of the database of a request, read exactly as endpoints read it: if a query parameter occurs several
    /// times, the first value. Null if there is none.
    /// </summary>
    public string? DatabaseOf(HttpContext http)
    {
        if (DatabaseParameter is null)
            return null;

        return InQuery
            ? http.Request.Query.TryGetValue(DatabaseParameter, out var values) && values.Count > 0 ? values[0] : null
            : http.GetRouteValue(DatabaseParameter) as string;
    }
}
