using Treepie.Kinds;

namespace Treepie.Writes;

/// <summary>The result of one command of a batch.</summary>
/// <param name="Id">The id of the document, as given or generated; the prefix for deletions by prefix.</param>
/// <param name="Collection">The collection of the document; null for deletions.</param>
/// <param name="ChangeVector">The change vector of the document or of the (last) tombstone; null if nothing was deleted.</param>
/// <param name="LastModified">The time of the change (UTC).</param>
/// <param name="Deleted">True for a deletion that found a document.</param>
/// <param name="Etag">The etag of the change; 0 if nothing was deleted.</param>
public sealed record WriteResult(
    string Id, string? Collection, string? ChangeVector, DateTime LastModified, bool Deleted, long Etag)
{
    /// <summary>The result of a patch; null for other commands.</summary>
    public PatchResult? Patch { get; init; }

    /// <summary>The result of a command on related data, such as counters; null for other commands.</summary>
    public KindResult? Beside { get; init; }
}
