namespace Treepie.Server.Backups;

/// <summary>A database that could not get the backup tasks of all databases.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Problem">Why, for whoever put the task.</param>
internal sealed record LackingDatabase(string Name, string Problem);
