namespace Treepie.Indexing.Postings;

/// <summary>
/// The ids that the entries of a batch have, by their places in it; -1 of one that has none, as a later one replaced it.
/// </summary>
/// <param name="ids">By place.</param>
/// <param name="first">The first, where each id is one more than that before: then they are reckoned and not looked up, which is
/// to wait for memory at every posting. Else -1.</param>
internal readonly ref struct EntryIds(ReadOnlySpan<long> ids, long first)
{
    private readonly ReadOnlySpan<long> ids = ids;

    public long this[int place] => first >= 0 ? first + place : ids[place];
}
