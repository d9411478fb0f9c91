using Treepie.Indexing.Kernels;
using Treepie.Storage.Kernels;

namespace Treepie.Indexing.Matching.Lists;

/// <summary>
/// Goes along lists of few entries a window to the windows in which all of them have entries in common. The two rarest are merged where they lie, and what they have in common is sought in the others.
/// </summary>
/// <param name="lists">The lists, one or more, the rarest first.</param>
/// <param name="hits">Room for the entries of a window.</param>
/// <param name="context">Is asked at every segment whether the query may go on; null: the token alone says so.</param>
/// <param name="cancellationToken">As <paramref name="context"/>.</param>
internal ref struct ListIntersection(ReadOnlySpan<SegmentList> lists, ushort[] hits, QueryContext? context, CancellationToken cancellationToken)
{
    /// <summary>Vectors of so many offsets are compared.</summary>
    private const int Lanes = 16;

    private readonly ReadOnlySpan<SegmentList> lists = lists;
    private readonly ushort[] hits = hits;
    private readonly QueryContext? context = context;
    private readonly CancellationToken cancellationToken = cancellationToken;
    private bool hasFound;

    /// <summary>The window found.</summary>
    public long Window { get; private set; }

    /// <summary>Goes to the next window; false if there is none. All lists stand on it.</summary>
    /// <param name="found">What they have in common there, ascending; it lives until the next call.</param>
    public bool MoveNext(out Span<ushort> found)
    {
        SegmentList lead = lists[0];
        while (true)
        {
            if (hasFound)
                Leave();
            if (!lead.IsOnWindow && !Enter(lead))
                break;
            if (lists.Length > 1)
            {
                SegmentList other = lists[1];
                if (!other.IsOnWindow && !Enter(other))
                    break;
                if (!SegmentList.Meet(lead, other))
                    continue;
            }

            hasFound = true;
            Window = lead.Window;
            int count = Intersect();
            if (count == 0)
                continue;
            found = hits.AsSpan(0, count);
            return true;
        }

        found = default;
        return false;
    }

    private readonly bool Enter(SegmentList list)
    {
        context?.Check();
        cancellationToken.ThrowIfCancellationRequested();
        return list.MoveNextSegment();
    }

    private void Leave()
    {
        hasFound = false;
        lists[0].At++;
        if (lists.Length > 1)
            lists[1].At++;
    }

    /// <summary>Writes what all lists have in common in the window; returns how many.</summary>
    private readonly int Intersect()
    {
        int count = lists.Length > 1 ? Meet(lists[0], lists[1]) : Copy(lists[0]);
        for (int i = 2; i < lists.Length && count > 0; i++)
            count = lists[i].MoveTo(Window) && lists[i].Window == Window ? Keep(lists[i], count) : 0;
        return count;
    }

    /// <summary>Writes what two lists have in common. Mostly they have few entries there, and not many in common.</summary>
    private readonly int Meet(SegmentList one, SegmentList other)
    {
        int oneCount = one.Count, otherCount = other.Count;
        ReadOnlySpan<ushort> left = one.Offsets, right = other.Offsets;
        if (!right.IsEmpty && left.Length >= oneCount + Lanes)
            return OffsetKernels.Intersect(left, oneCount, right[..otherCount], hits);
        if (!left.IsEmpty && right.Length >= otherCount + Lanes)
            return OffsetKernels.Intersect(right, otherCount, left[..oneCount], hits);
        return left.IsEmpty ? Keep(one, Copy(other)) : Keep(other, Copy(one));
    }

    private readonly int Copy(SegmentList list) => list.Postings.CopyOffsets(hits);

    private readonly int Keep(SegmentList list, int count)
    {
        ReadOnlySpan<ushort> mine = list.Offsets;
        return mine.IsEmpty ? list.Postings.Keep(hits.AsSpan(0, count), wanted: true) : SortedSets.Intersect(hits.AsSpan(0, count), mine[..list.Count]);
    }
}
