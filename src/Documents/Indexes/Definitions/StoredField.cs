namespace Treepie.Indexes.Definitions;

/// <summary>The source of the value of an index field when it is selected.</summary>
/// <param name="Name">The name in queries.</param>
/// <param name="Path">The path in the document.</param>
/// <param name="Slot">The number of its stored value in entries, starting at 1.</param>
/// <param name="IsStored">Whether entries store it.</param>
/// <param name="IsComputed">Whether the path refers to the object that a map returns instead of the document.</param>
/// <param name="IsDynamic">Whether its name was determined by a document.</param>
internal readonly record struct StoredField(
    string Name, string Path, int Slot, bool IsStored, bool IsComputed = false, bool IsDynamic = false);
