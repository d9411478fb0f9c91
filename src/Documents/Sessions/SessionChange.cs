using System.Text.Json.Nodes;

namespace Treepie.Sessions;

/// <summary>A change of a document that the next save will write.</summary>
/// <param name="Kind">What happens.</param>
/// <param name="Path">The member that changes, <c>Lines[1].Amount</c>; null where the document as a whole does.</param>
/// <param name="OldValue">What stands there; null where there is nothing.</param>
/// <param name="NewValue">What will stand there; null where there will be nothing.</param>
public sealed record SessionChange(
    SessionChangeKind Kind, string? Path = null, JsonNode? OldValue = null, JsonNode? NewValue = null);
