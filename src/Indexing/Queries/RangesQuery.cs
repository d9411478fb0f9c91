namespace Treepie.Indexing.Queries;

/// <summary>
/// Matches entries with a value in one of several ranges over a field. The ranges are all of numbers or all of texts, and in
/// order. Never scored.
/// </summary>
internal sealed record RangesQuery(string Field, IReadOnlyList<RangeQuery> Ranges) : IndexQuery;
