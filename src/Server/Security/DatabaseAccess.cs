namespace Treepie.Server.Security;

/// <summary>What somebody may do in one database.</summary>
internal enum DatabaseAccess
{
    /// <summary>Reading documents, and asking queries.</summary>
    Read,

    /// <summary>Writing documents and indexes of queries too.</summary>
    ReadWrite,

    /// <summary>Settings, indexes and backups too.</summary>
    Admin,
}
