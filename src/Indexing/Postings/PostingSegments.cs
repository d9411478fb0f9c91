using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Goes along all segments of a long list, of a page of them at a time: see <see cref="PostingCursor.Segments"/>.
/// </summary>
/// <param name="list">The list.</param>
internal ref struct PostingSegments(PostingCursor list)
{
    private readonly PostingCursor list = list;
    private LeafEntries page;
    private int place;
    private bool hasBegun;

    /// <summary>The segment it stands on.</summary>
    public readonly PostingSegment Current => new(page.ValueOf(place));

    public readonly PostingSegments GetEnumerator() => this;

    /// <summary>Goes to the next segment, at first to the first; false behind the last.</summary>
    public bool MoveNext()
    {
        if (++place >= page.Count && !MoveToPage())
            return false;
        list.Count();
        return true;
    }

    private bool MoveToPage()
    {
        place = 0;
        bool isThere = hasBegun ? list.TryTakeNext(out page) : list.TryTakeFirst(out page);
        hasBegun = true;
        return isThere;
    }
}
