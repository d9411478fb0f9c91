namespace Treepie.Indexing.Postings;

/// <summary>
/// Maps the place of an entry in a batch to its entry id; -1 if a later entry of the same batch replaced it.
/// </summary>
/// <param name="ids">The ids by place.</param>
/// <param name="first">The first id if all ids are consecutive, which saves a memory access per posting; otherwise
/// -1.</param>
internal readonly ref struct EntryIds(ReadOnlySpan<long> ids, long first)
{
    private readonly ReadOnlySpan<long> _ids = ids;

    public long this[int place] => first >= 0 ? first + place : _ids[place];
}
