namespace Treepie.Kinds;

/// <summary>The result of operations on counters of a document.</summary>
/// <param name="DocumentId">The id of the document.</param>
/// <param name="Counters">For each increment, in order, the counter after it; for each get, the counter, or null.</param>
/// <param name="DocumentChangeVector">The change vector of the document after the operations; null if it does not exist.</param>
public sealed record CountersResult(string DocumentId, IReadOnlyList<CounterValue?> Counters, string? DocumentChangeVector)
    : KindResult;
