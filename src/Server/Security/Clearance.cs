namespace Treepie.Server.Security;

/// <summary>What somebody may do on the server as a whole. Names and order are those of RavenDB's clearances.</summary>
internal enum Clearance
{
    /// <summary>The databases his certificate names, as far as it says.</summary>
    ValidUser,

    /// <summary>All databases, and making, deleting and restoring them; certificates of others than administrators.</summary>
    Operator,

    /// <summary>Everything.</summary>
    ClusterAdmin,
}
