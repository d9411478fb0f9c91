namespace Treepie.Kinds;

/// <summary>An unmet expectation of a cluster-wide batch.</summary>
/// <param name="Id">The id of the document, or the key of the compare-exchange value.</param>
/// <param name="IsDocument">Whether it is a document.</param>
/// <param name="Expected">The expected index; 0: none.</param>
/// <param name="Actual">The actual index; 0: none.</param>
public sealed record ClusterConflict(string Id, bool IsDocument, long Expected, long Actual);
