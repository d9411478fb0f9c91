namespace Treepie;

/// <summary>The description of a database of a catalogue, available without opening it.</summary>
/// <param name="Name">The name.</param>
/// <param name="IsEncrypted">Whether its files are encrypted.</param>
/// <param name="IsOpen">Whether it is open; a database is opened on first access.</param>
/// <param name="Problem">Why the last attempt to open it failed; null if it succeeded or there was none.</param>
public sealed record DatabaseDescription(string Name, bool IsEncrypted, bool IsOpen, string? Problem);
