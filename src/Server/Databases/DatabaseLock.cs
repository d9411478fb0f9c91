namespace Treepie.Server.Databases;

/// <summary>Whether a database can be deleted.</summary>
internal enum DatabaseLock
{
    Unlock,

    /// <summary>Requests to delete it do nothing.</summary>
    PreventDeletesIgnore,

    /// <summary>Requests to delete it are rejected.</summary>
    PreventDeletesError,
}
