namespace Treepie.Indexing.Postings;

/// <summary>
/// The entry ids of a batch by place; -1 for an entry that a later one of the same batch replaced.
/// </summary>
/// <param name="ids">By place.</param>
/// <param name="first">The first id if ids are consecutive, which saves a memory access per posting; otherwise -1.</param>
internal readonly ref struct EntryIds(ReadOnlySpan<long> ids, long first)
{
    private readonly ReadOnlySpan<long> _ids = ids;

    public long this[int place] => first >= 0 ? first + place : _ids[place];
}
