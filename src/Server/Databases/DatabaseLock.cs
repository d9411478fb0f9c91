namespace Treepie.Server.Databases;

/// <summary>Whether a database can be deleted.</summary>
internal enum DatabaseLock
{
    Unlock,

    /// <summary>A request to delete it does nothing.</summary>
    PreventDeletesIgnore,

    /// <summary>A request to delete it is refused.</summary>
    PreventDeletesError,
}
