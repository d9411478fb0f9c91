namespace Treepie.Indexing.Queries;

/// <summary>Matches given entries by id, ascending; used for entries that a newer state has replaced or removed.</summary>
internal sealed record EntriesQuery(long[] Ids) : IndexQuery;
