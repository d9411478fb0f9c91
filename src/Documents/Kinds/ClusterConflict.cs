namespace Treepie.Kinds;

/// <summary>What was not as a cluster-wide batch expected.</summary>
/// <param name="Id">Id of the document, or key of the compare-exchange value.</param>
/// <param name="IsDocument">Whether it is a document.</param>
/// <param name="Expected">Index expected; 0: none.</param>
/// <param name="Actual">Index found; 0: none.</param>
public sealed record ClusterConflict(string Id, bool IsDocument, long Expected, long Actual);
