namespace Treepie.Indexing.Queries;

/// <summary>
/// Matches entries that match at least one clause, of owners that have for each clause an entry that matches it. With one entry
/// for each owner it is an <see cref="AndQuery"/>. The entries of an owner follow one another. The owner is the text of their
/// keys, see <see cref="KeyQuery"/>.
/// </summary>
/// <param name="Clauses">The clauses.</param>
public sealed record IntersectQuery(IReadOnlyList<IndexQuery> Clauses) : IndexQuery;
