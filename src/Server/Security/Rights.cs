using System.Collections.Frozen;

namespace Treepie.Server.Security;

/// <summary>The rights of an identity. Names of databases are case-insensitive.</summary>
/// <param name="Clearance">The rights on the server as a whole.</param>
/// <param name="Databases">The rights in databases, by name; a user with the lowest clearance has no others.</param>
internal sealed record Rights(Clearance Clearance, FrozenDictionary<string, DatabaseAccess> Databases)
{
    /// <summary>All rights.</summary>
    public static Rights All { get; } = new(Clearance.ClusterAdmin, FrozenDictionary<string, DatabaseAccess>.Empty);

    /// <summary>Creates rights with the given databases.</summary>
    public static Rights Of(Clearance clearance, IEnumerable<KeyValuePair<string, DatabaseAccess>> databases) =>
        new(clearance, databases.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase));

    /// <summary>Returns whether the rights are sufficient for a level, in a database if the level refers to one.</summary>
    public bool Suffice(AccessLevel level, string? database) => level switch
    {
        AccessLevel.Anyone or AccessLevel.ValidUser => true,
        AccessLevel.DatabaseRead => Has(database, DatabaseAccess.Read),
        AccessLevel.DatabaseReadWrite => Has(database, DatabaseAccess.ReadWrite),
        AccessLevel.DatabaseAdmin => Has(database, DatabaseAccess.Admin),
        AccessLevel.Operator => Clearance >= Clearance.Operator,
        AccessLevel.ClusterAdmin => Clearance >= Clearance.ClusterAdmin,
        _ => false,
    };

    private bool Has(string? database, DatabaseAccess least) =>
        Clearance >= Clearance.Operator
            || (database is not null && Databases.TryGetValue(database, out DatabaseAccess access) && access >= least);
}
