namespace Treepie.Indexing.Queries;

/// <summary>
/// Entries with a value in one of several ranges over a field, which are all of one kind and in order. Never scored.
/// </summary>
internal sealed record RangesQuery(string Field, IReadOnlyList<RangeQuery> Ranges) : IndexQuery;
