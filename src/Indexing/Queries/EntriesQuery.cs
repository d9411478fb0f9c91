namespace Treepie.Indexing.Queries;

/// <summary>Given entries, by their ids, ascending: those that a newer state does not have any more.</summary>
internal sealed record EntriesQuery(long[] Ids) : IndexQuery;
