namespace Treepie.Server.Security;

/// <summary>
/// What a caller must be allowed to do to use an endpoint, from nothing upwards. The names are those of RavenDB's rights.
/// </summary>
internal enum AccessLevel
{
    /// <summary>Nobody is asked who he is: the answer tells nothing about data or server.</summary>
    Anyone,

    /// <summary>Somebody the server knows, whatever his databases are.</summary>
    ValidUser,

    /// <summary>Reading the database that the request is about.</summary>
    DatabaseRead,

    /// <summary>Writing its documents and indexes too.</summary>
    DatabaseReadWrite,

    /// <summary>Its settings, backups and record.</summary>
    DatabaseAdmin,

    /// <summary>All databases, and making, deleting and restoring them.</summary>
    Operator,

    /// <summary>Everything, certificates included.</summary>
    ClusterAdmin,
}
