using System.Text.Json.Nodes;

namespace Treepie.Sessions;

/// <summary>A change of a document, or of what lies beside it, that the next save will write.</summary>
/// <param name="Kind">What happens.</param>
/// <param name="Path">The member that changes, <c>Lines[1].Amount</c>, or the name of the attachment, counter or time series;
/// null where the document as a whole does.</param>
/// <param name="OldValue">What stands there; null where there is nothing, or it is not known before the save.</param>
/// <param name="NewValue">What will stand there, or what is added to it, as the kind says; null where there will be
/// nothing.</param>
public sealed record SessionChange(
    SessionChangeKind Kind, string? Path = null, JsonNode? OldValue = null, JsonNode? NewValue = null);
