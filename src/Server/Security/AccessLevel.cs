namespace Treepie.Server.Security;

/// <summary>The access required by an endpoint, in ascending order. The names are those of RavenDB's rights.</summary>
internal enum AccessLevel
{
    /// <summary>No authentication: the response reveals nothing about data or the server.</summary>
    Anyone,

    /// <summary>Any known identity, whatever databases it may access.</summary>
    ValidUser,

    /// <summary>Reading the database of the request.</summary>
    DatabaseRead,

    /// <summary>Writing its documents and indexes as well.</summary>
    DatabaseReadWrite,

    /// <summary>Administering the database: its settings, backups and record.</summary>
    DatabaseAdmin,

    /// <summary>All databases, including creating, deleting and restoring them.</summary>
    Operator,

    /// <summary>Everything, including certificates.</summary>
    ClusterAdmin,
}
