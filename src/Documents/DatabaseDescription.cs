namespace Treepie;

/// <summary>A database of a catalogue, as far as it is known without opening it.</summary>
/// <param name="Name">Its name.</param>
/// <param name="IsEncrypted">Whether its files are encrypted.</param>
/// <param name="IsOpen">Whether it is open now; a database opens when it is first asked for.</param>
/// <param name="Problem">Why it could not be opened when that was last tried; null if it could, or was not.</param>
public sealed record DatabaseDescription(string Name, bool IsEncrypted, bool IsOpen, string? Problem);
