namespace Treepie.Server.Security;

/// <summary>The rights on the server as a whole. Names and order are those of RavenDB's clearances.</summary>
internal enum Clearance
{
    /// <summary>Only the databases named in the rights.</summary>
    ValidUser,

    /// <summary>
    /// All databases, including creating, deleting and restoring them; and managing identities that are not administrators.
    /// </summary>
    Operator,

    /// <summary>Everything.</summary>
    ClusterAdmin,
}
