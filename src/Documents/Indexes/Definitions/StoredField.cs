namespace Treepie.Indexes.Definitions;

/// <summary>Where the value of a field of an index comes from, for those who select it.</summary>
/// <param name="Name">The name that queries say.</param>
/// <param name="Path">Where it stands in the document.</param>
/// <param name="Slot">Its number in what entries keep, from 1 on.</param>
/// <param name="IsStored">Whether entries keep it.</param>
/// <param name="IsComputed">Whether the path leads through what a map makes of the document.</param>
/// <param name="IsDynamic">Whether the document said its name.</param>
internal readonly record struct StoredField(
    string Name, string Path, int Slot, bool IsStored, bool IsComputed = false, bool IsDynamic = false);
