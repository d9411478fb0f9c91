namespace Treepie.Kinds;

/// <summary>The result of an operation on an attachment.</summary>
/// <param name="Operation">The operation.</param>
/// <param name="DocumentId">The id of the document; of the source for copies and moves.</param>
/// <param name="Name">The name of the attachment in that document.</param>
/// <param name="Value">The attachment that was stored; null for deletions.</param>
/// <param name="DocumentChangeVector">The change vector of the document after the operation; null if it does not exist.</param>
/// <param name="DestinationChangeVector">The change vector of the destination document, for copies and moves.</param>
public sealed record AttachmentResult(
    AttachmentOperation Operation, string DocumentId, string Name, AttachmentValue? Value, string? DocumentChangeVector,
    string? DestinationChangeVector) : KindResult;
