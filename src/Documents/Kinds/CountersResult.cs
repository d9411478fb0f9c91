namespace Treepie.Kinds;

/// <summary>What a command about counters of a document did.</summary>
/// <param name="DocumentId">Id of the document.</param>
/// <param name="Counters">For each increment, in order, the counter after it; for each that was asked for the counter, or
/// null.</param>
/// <param name="DocumentChangeVector">The document's change vector afterwards; null where it does not exist.</param>
public sealed record CountersResult(string DocumentId, IReadOnlyList<CounterValue?> Counters, string? DocumentChangeVector)
    : KindResult;
