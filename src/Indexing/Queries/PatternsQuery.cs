namespace Treepie.Indexing.Queries;

/// <summary>
/// Matches entries with a term that matches any of several patterns over a field: <see cref="SuffixQuery"/> or
/// <see cref="RegexQuery"/>. Never scored.
/// </summary>
internal sealed record PatternsQuery(string Field, IReadOnlyList<IndexQuery> Patterns) : IndexQuery;
