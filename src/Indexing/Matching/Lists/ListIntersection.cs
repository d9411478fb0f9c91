using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;
using Treepie.Storage.Kernels;

namespace Treepie.Indexing.Matching.Lists;

/// <summary>
/// Walks lists of few entries a window, and stops at the windows in which all of them have entries in common. The two rarest are
/// intersected where they lie, and what they have in common is looked up in the others.
/// </summary>
/// <param name="lists">The lists, one or more, the rarest first.</param>
/// <param name="hits">Room for the entries of a window.</param>
/// <param name="context">The query; it is checked at every segment.</param>
internal ref struct ListIntersection(ReadOnlySpan<PostingList> lists, ushort[] hits, QueryContext context)
{
    /// <summary>
    /// Entries a window, over all windows of the index, up to which lists are intersected where they lie: with twice as many,
    /// most windows are bitmaps.
    /// </summary>
    public const int MostPerWindow = 48;

    /// <summary>Most entries of all lists that are.</summary>
    public const long MostEntries = 1 << 20;

    /// <summary>
    /// How many times the windows of the rarest list another one may have: with more, entries are looked up in it.
    /// </summary>
    private const int MostWindowsRatio = 4;

    /// <summary>Vectors of so many offsets are compared.</summary>
    private const int Lanes = 16;

    private readonly ReadOnlySpan<PostingList> _lists = lists;
    private readonly ushort[] _hits = hits;
    private readonly QueryContext _context = context;
    private bool _hasFound;

    /// <summary>The window found.</summary>
    public long Window { get; private set; }

    /// <summary>
    /// Whether a list is intersected with a rarer one where both lie; else the entries of that are looked up in it.
    /// </summary>
    /// <param name="entries">Its entries.</param>
    /// <param name="least">Those of the rarest list.</param>
    /// <param name="windows">Windows of the index.</param>
    /// <param name="most">Most entries a window.</param>
    public static bool Takes(long entries, long least, long windows, int most = MostPerWindow) =>
        entries <= FlatPostings.MaxEntries
        || (entries <= most * windows && Math.Min(entries, windows) <= MostWindowsRatio * Math.Min(least, windows));

    /// <summary>Goes to the next window; false if there is none. All lists stand on it.</summary>
    /// <param name="found">What they have in common there, ascending; it lives until the next call.</param>
    public bool MoveNext(out Span<ushort> found)
    {
        PostingList lead = _lists[0];
        while (true)
        {
            if (_hasFound)
                Leave();
            if (!lead.IsOnWindow && !Enter(lead))
                break;
            if (_lists.Length > 1)
            {
                PostingList other = _lists[1];
                if (!other.IsOnWindow && !Enter(other))
                    break;
                if (!PostingList.Meet(lead, other))
                    continue;
            }

            _hasFound = true;
            Window = lead.Window;
            int count = Intersect();
            if (count == 0)
                continue;
            found = _hits.AsSpan(0, count);
            return true;
        }

        found = default;
        return false;
    }

    private readonly bool Enter(PostingList list)
    {
        _context.Check();
        return list.MoveNextSegment();
    }

    private void Leave()
    {
        _hasFound = false;
        _lists[0].At++;
        if (_lists.Length > 1)
            _lists[1].At++;
    }

    /// <summary>Writes what all lists have in common in the window; returns how many.</summary>
    private readonly int Intersect()
    {
        int count = _lists.Length > 1 ? Meet(_lists[0], _lists[1]) : Copy(_lists[0]);
        for (int i = 2; i < _lists.Length && count > 0; i++)
            count = _lists[i].MoveTo(Window) && _lists[i].Window == Window ? Keep(_lists[i], count) : 0;
        return count;
    }

    /// <summary>Writes what two lists have in common. Mostly they have few entries there, and not many in common.</summary>
    private readonly int Meet(PostingList one, PostingList other)
    {
        int oneCount = one.Count, otherCount = other.Count;
        ReadOnlySpan<ushort> left = one.Offsets, right = other.Offsets;
        if (!right.IsEmpty && left.Length >= oneCount + Lanes)
            return OffsetKernels.Intersect(left, oneCount, right[..otherCount], _hits);
        if (!left.IsEmpty && right.Length >= otherCount + Lanes)
            return OffsetKernels.Intersect(right, otherCount, left[..oneCount], _hits);
        return left.IsEmpty ? Keep(one, Copy(other)) : Keep(other, Copy(one));
    }

    private readonly int Copy(PostingList list) => list.Held.Postings.CopyOffsets(_hits);

    private readonly int Keep(PostingList list, int count)
    {
        ReadOnlySpan<ushort> mine = list.Offsets;
        Span<ushort> common = _hits.AsSpan(0, count);
        return mine.IsEmpty ? list.Held.Postings.Keep(common, wanted: true) : SortedSets.Intersect(common, mine[..list.Count]);
    }
}
