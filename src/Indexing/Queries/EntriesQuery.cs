namespace Treepie.Indexing.Queries;

/// <summary>
/// Matches given entries of one view, and of the changes that are searched with it. Scores nothing: beside another condition, the
/// score is that of the other.
/// </summary>
/// <param name="Ids">The <see cref="SearchResults.EntryId"/> of each entry, ascending, each once.</param>
public sealed record EntriesQuery(IReadOnlyList<long> Ids) : IndexQuery;
