namespace Treepie.Kinds;

/// <summary>Whether a revision was forced.</summary>
/// <param name="DocumentId">Id of the document.</param>
/// <param name="IsCreated">Whether there was none of its present state.</param>
/// <param name="ChangeVector">The document's change vector afterwards.</param>
public sealed record RevisionResult(string DocumentId, bool IsCreated, string ChangeVector) : KindResult;
