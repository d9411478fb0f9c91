namespace Treepie.Kinds;

/// <summary>The result of a request for a revision.</summary>
/// <param name="DocumentId">The id of the document.</param>
/// <param name="IsCreated">Whether a revision was created; false if there already was one of the current state.</param>
/// <param name="ChangeVector">The change vector of the document after the operation.</param>
public sealed record RevisionResult(string DocumentId, bool IsCreated, string ChangeVector) : KindResult;
