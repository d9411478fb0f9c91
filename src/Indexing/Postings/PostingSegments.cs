using Treepie.Storage.Trees;

namespace Treepie.Indexing.Postings;

/// <summary>Enumerates all segments of a long list, leaf by leaf; see <see cref="PostingCursor.Segments"/>.</summary>
/// <param name="list">The list.</param>
internal ref struct PostingSegments(PostingCursor list)
{
    private readonly PostingCursor _list = list;
    private LeafEntries _page;
    private int _place;
    private bool _hasBegun;

    /// <summary>The current segment.</summary>
    public readonly PostingSegment Current => new(_page.ValueOf(_place));

    public readonly PostingSegments GetEnumerator() => this;

    /// <summary>Moves to the next segment, initially the first; false after the last.</summary>
    public bool MoveNext()
    {
        if (++_place >= _page.Count && !MoveToPage())
            return false;
        _list.Count();
        return true;
    }

    private bool MoveToPage()
    {
        _place = 0;
        bool isThere = _hasBegun ? _list.TryTakeNext(out _page) : _list.TryTakeFirst(out _page);
        _hasBegun = true;
        return isThere;
    }
}
