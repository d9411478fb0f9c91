namespace Treepie.Kinds;

/// <summary>What a command about a time series did.</summary>
/// <param name="DocumentId">Id of the document.</param>
/// <param name="DocumentChangeVector">The document's change vector afterwards; null where it does not exist.</param>
public sealed record TimeSeriesResult(string DocumentId, string? DocumentChangeVector) : KindResult;
