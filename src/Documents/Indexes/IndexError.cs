namespace Treepie.Indexes;

/// <summary>
/// Something that could not be indexed. An index keeps the last 512 of its documents; one goes when its document is indexed, or
/// deleted.
/// </summary>
/// <param name="Time">When (UTC).</param>
/// <param name="DocumentId">The document, which has no entry in the index; null: the index itself.</param>
/// <param name="Action">What failed: <c>Map</c>, of a document; <c>Reduce</c>, of a group; <c>Index</c>, of the index.</param>
/// <param name="Message">Why.</param>
public sealed record IndexError(DateTime Time, string? DocumentId, string Action, string Message);
