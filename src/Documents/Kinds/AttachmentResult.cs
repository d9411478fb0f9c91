namespace Treepie.Kinds;

/// <summary>What a command about an attachment did.</summary>
/// <param name="Operation">What was asked for.</param>
/// <param name="DocumentId">The document; of copies and moves the one it was taken from.</param>
/// <param name="Name">The name there.</param>
/// <param name="Value">The attachment that was put; null for deletions.</param>
/// <param name="DocumentChangeVector">That document's change vector afterwards; null where it does not exist.</param>
/// <param name="DestinationChangeVector">Of copies and moves, that of the other document.</param>
public sealed record AttachmentResult(
    AttachmentOperation Operation, string DocumentId, string Name, AttachmentValue? Value, string? DocumentChangeVector,
    string? DestinationChangeVector) : KindResult;
