using System.Collections.Frozen;

namespace Treepie.Server.Security;

/// <summary>What a certificate's holder may do. Names of databases are compared without case, as databases are.</summary>
/// <param name="Clearance">On the server as a whole.</param>
/// <param name="Databases">In databases, by their names; of a valid user these are all.</param>
internal sealed record Rights(Clearance Clearance, FrozenDictionary<string, DatabaseAccess> Databases)
{
    /// <summary>Everything.</summary>
    public static Rights All { get; } = new(Clearance.ClusterAdmin, FrozenDictionary<string, DatabaseAccess>.Empty);

    /// <summary>Rights with these databases.</summary>
    public static Rights Of(Clearance clearance, IEnumerable<KeyValuePair<string, DatabaseAccess>> databases) =>
        new(clearance, databases.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase));

    /// <summary>Whether they suffice for a level, of a database if the level is about one.</summary>
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
