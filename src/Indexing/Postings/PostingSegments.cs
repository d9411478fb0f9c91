using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Enumerates all segments of a long list, one leaf of them at a time: see <see cref="PostingCursor.Segments"/>.
/// </summary>
/// <param name="list">The list.</param>
internal ref struct PostingSegments(PostingCursor list)
{
    private readonly PostingCursor list = list;
    private LeafEntries page;
    private int place;
    private bool hasBegun;

    /// <summary>The current segment.</summary>
    public readonly PostingSegment Current => new(page.ValueOf(place));

    public readonly PostingSegments GetEnumerator() => this;

    /// <summary>Moves to the next segment, initially the first; false after the last.</summary>
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
