namespace Treepie.Server.Security;

/// <summary>The rights in one database.</summary>
internal enum DatabaseAccess
{
    /// <summary>Reading documents and executing queries.</summary>
    Read,

    /// <summary>Writing documents and indexes as well.</summary>
    ReadWrite,

    /// <summary>Settings, indexes and backups as well.</summary>
    Admin,
}
