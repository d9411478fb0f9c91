namespace Treepie.Server.Security;

/// <summary>The level that an endpoint demands, as metadata of its route. An endpoint without it is refused (<see cref="AccessGuard"/>).</summary>
/// <param name="Level">The level.</param>
/// <param name="DatabaseParameter">Where the name of the database stands that a database's level is about.</param>
/// <param name="InQuery">Whether that is a parameter of the query string; else it is one of the route.</param>
internal sealed record RequiredAccess(AccessLevel Level, string? DatabaseParameter = null, bool InQuery = false);
