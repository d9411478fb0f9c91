namespace Treepie.CommandLine.Http;

/// <summary>The database of a server that a backup is restored to.</summary>
/// <param name="Name">Name of the database.</param>
/// <param name="IsEncrypted">Whether the database is created encrypted.</param>
/// <param name="AllowsPlain">Whether a sealed backup may become a plain database.</param>
internal sealed record RestoreTarget(string Name, bool IsEncrypted, bool AllowsPlain);
