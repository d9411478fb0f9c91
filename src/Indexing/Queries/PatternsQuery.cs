namespace Treepie.Indexing.Queries;

/// <summary>
/// Entries with a term that fits one of several patterns over a field: <see cref="SuffixQuery"/>, <see cref="RegexQuery"/>. Never
/// scored.
/// </summary>
internal sealed record PatternsQuery(string Field, IReadOnlyList<IndexQuery> Patterns) : IndexQuery;
