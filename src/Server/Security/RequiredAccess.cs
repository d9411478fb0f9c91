namespace Treepie.Server.Security;

/// <summary>
/// The level that an endpoint demands, as metadata of its route. An endpoint without it is refused (<see cref="AccessGuard"/>).
/// </summary>
/// <param name="Level">The level.</param>
/// <param name="DatabaseParameter">Where the name of the database stands that a database's level is about.</param>
/// <param name="InQuery">Whether that is a parameter of the query string; else it is one of the route.</param>
internal sealed record RequiredAccess(AccessLevel Level, string? DatabaseParameter = null, bool InQuery = false)
{
    /// <summary>
    /// The database that a request is about, read exactly as endpoints read it: of a parameter that stands in the query string
    /// several times, the first. Null where the request names none.
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
