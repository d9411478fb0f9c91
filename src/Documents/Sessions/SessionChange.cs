using System.Text.Json.Nodes;

namespace Treepie.Sessions;

/// <summary>A change of a document or its related data that the next save will make.</summary>
/// <param name="Kind">The kind of the change.</param>
/// <param name="Path">The member that changes, such as <c>Lines[1].Amount</c>, or the name of the attachment, counter or time
/// series. Null if the change concerns the document as a whole.</param>
/// <param name="OldValue">The current value; null if there is none or it is not known before the save.</param>
/// <param name="NewValue">The new value, or the value to be added, depending on the kind; null if there is none.</param>
public sealed record SessionChange(
    SessionChangeKind Kind, string? Path = null, JsonNode? OldValue = null, JsonNode? NewValue = null);
