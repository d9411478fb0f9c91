using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;
using Treepie.Storage.Kernels;

namespace Treepie.Indexing.Matching.Lists;

/// <summary>
/// Walks lists with few entries per window and stops at the windows in which all of them share entries. The two rarest lists
/// are intersected in place, and the common entries are looked up in the others.
/// </summary>
/// <param name="lists">One or more lists, the rarest first.</param>
/// <param name="hits">Buffer for the entries of a window.</param>
/// <param name="context">The query, which is checked at every segment.</param>
internal ref struct ListIntersection(ReadOnlySpan<PostingList> lists, ushort[] hits, QueryContext context)
{
    /// <summary>
    /// Maximum average number of entries per window of the index for lists that are intersected in place. With twice as
    /// many, most windows are bitmaps.
    /// </summary>
    public const int MostPerWindow = 48;

    /// <summary>Maximum number of entries in all lists intersected in place.</summary>
    public const long MostEntries = 1 << 20;

    /// <summary>
    /// Maximum ratio of a list's windows to those of the rarest list. Above it, the rarest list's entries are looked up
    /// instead.
    /// </summary>
    private const int MostWindowsRatio = 4;

    /// <summary>Number of offsets compared per vector.</summary>
    private const int Lanes = 16;

    private readonly ReadOnlySpan<PostingList> _lists = lists;
    private readonly ushort[] _hits = hits;
    private readonly QueryContext _context = context;
    private bool _hasFound;

    /// <summary>The current window.</summary>
    public long Window { get; private set; }

    /// <summary>
    /// Whether to intersect a list with a rarer one in place; otherwise the entries of the rarer one are looked up in it.
    /// </summary>
    /// <param name="entries">Number of entries of the list.</param>
    /// <param name="least">Number of entries of the rarest list.</param>
    /// <param name="windows">Number of windows of the index.</param>
    /// <param name="most">Maximum average number of entries per window.</param>
    public static bool Takes(long entries, long least, long windows, int most = MostPerWindow) =>
        entries <= FlatPostings.MaxEntries
        || (entries <= most * windows && Math.Min(entries, windows) <= MostWindowsRatio * Math.Min(least, windows));

    /// <summary>
    /// Moves to the next window with common entries and positions all lists on it; false if there is none.
    /// </summary>
    /// <param name="found">The common entries, ascending; valid until the next call.</param>
    public bool MoveNext(out Span<ushort> found)
    {
        Debug.Assert(_lists.Length > 0, "a list leads");
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
        Debug.Assert(_lists[0].IsOnWindow, "the list is on the window it leaves");
        _hasFound = false;
        _lists[0].At++;
        if (_lists.Length > 1)
            _lists[1].At++;
    }

    /// <summary>Writes the entries that all lists share in the window; returns how many.</summary>
    private readonly int Intersect()
    {
        Debug.Assert(_lists.Length == 1 || _lists[1].Window == Window, "both leading lists are on the window");
        int count = _lists.Length > 1 ? Meet(_lists[0], _lists[1]) : Copy(_lists[0]);
        for (int i = 2; i < _lists.Length && count > 0; i++)
            count = _lists[i].MoveTo(Window) && _lists[i].Window == Window ? Keep(_lists[i], count) : 0;
        return count;
    }

    /// <summary>
    /// Writes the entries that two lists share. Usually both have few entries in the window and share few of them.
    /// </summary>
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
        Debug.Assert(count >= 0 && count <= _hits.Length, "the common entries are in the buffer");
        ReadOnlySpan<ushort> mine = list.Offsets;
        Span<ushort> common = _hits.AsSpan(0, count);
        return mine.IsEmpty ? list.Held.Postings.Keep(common, wanted: true) : SortedSets.Intersect(common, mine[..list.Count]);
    }
}
