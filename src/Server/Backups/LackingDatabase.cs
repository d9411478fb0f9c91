namespace Treepie.Server.Backups;

/// <summary>A database that could not get the backup tasks of all databases.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Problem">The reason, for the user.</param>
internal sealed record LackingDatabase(string Name, string Problem);
