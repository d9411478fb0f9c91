namespace Treepie.Indexes;

/// <summary>
/// An indexing error. An index keeps the last 512 errors of documents; an error is removed when its document is indexed or
/// deleted.
/// </summary>
/// <param name="Time">When the error occurred (UTC).</param>
/// <param name="DocumentId">The document, which has no entry in the index; null for an error of the index itself.</param>
/// <param name="Action">What failed: <c>Map</c> of a document, <c>Reduce</c> of a group, or <c>Index</c> for the index.</param>
/// <param name="Message">The error message.</param>
public sealed record IndexError(DateTime Time, string? DocumentId, string Action, string Message);
