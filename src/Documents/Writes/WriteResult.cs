using Treepie.Kinds;

namespace Treepie.Writes;

/// <summary>What one command of a batch did.</summary>
/// <param name="Id">The document's id, as given or as made; the prefix for deletions by prefix.</param>
/// <param name="Collection">Its collection; null for deletions.</param>
/// <param name="ChangeVector">Its change vector, or that of the (last) tombstone; null when nothing was deleted.</param>
/// <param name="LastModified">When (UTC).</param>
/// <param name="Deleted">True for deletions that found a document.</param>
/// <param name="Etag">Its etag; 0 when nothing was deleted.</param>
public sealed record WriteResult(
    string Id, string? Collection, string? ChangeVector, DateTime LastModified, bool Deleted, long Etag)
{
    /// <summary>Of patches: what they did.</summary>
    public PatchResult? Patch { get; init; }

    /// <summary>Of commands about what lies beside documents: what they did.</summary>
    public KindResult? Beside { get; init; }
}
