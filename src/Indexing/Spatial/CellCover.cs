using System.Diagnostics;

namespace Treepie.Indexing.Spatial;

/// <summary>
/// Covers a region with squares of the curve. Starting with the largest square, squares that cross the border are divided
/// into quarters while the budget lasts. The work is bounded for any shape: a few hundred squares are visited.
/// </summary>
internal static class CellCover
{
    /// <summary>Most ranges that a query reads; each costs one tree descent.</summary>
    public const int MaxRanges = 16;

    /// <summary>Most squares under which an entry is stored for one shape.</summary>
    public const int MaxSquares = 32;

    /// <summary>Most squares before neighbours on the curve are merged into ranges.</summary>
    private const int QuerySquares = 96;

    /// <summary>Level of the smallest squares, 360° / 2²⁸ (15 cm), which are not divided.</summary>
    private const int DeepestLevel = 28;

    /// <summary>Returns ascending ranges that cover the region.</summary>
    public static List<CellRange> Ranges(Geometry region, CancellationToken cancellationToken = default)
    {
        var ranges = new List<CellRange>();
        foreach ((CellSquare square, bool isInside) in Squares(region, QuerySquares, cancellationToken))
        {
            if (ranges.Count > 0 && ranges[^1].Last + 1 == square.First && ranges[^1].IsInside == isInside)
                ranges[^1] = ranges[^1] with { Last = square.Last };
            else
                ranges.Add(new CellRange(square.First, square.Last, isInside));
        }

        while (ranges.Count > MaxRanges)
            JoinNearest(ranges);
        return ranges;
    }

    /// <summary>Returns squares that cover the region, in the order of the curve.</summary>
    public static List<CellSquare> Squares(Geometry region) =>
        Squares(region, MaxSquares, CancellationToken.None).ConvertAll(static found => found.Square);

    private static List<(CellSquare Square, bool IsInside)> Squares(
        Geometry region, int budget, CancellationToken cancellationToken)
    {
        var found = new List<(CellSquare Square, bool IsInside)>();
        var open = new Queue<CellSquare>();
        if (region.RelationTo(CellSquare.Root.Box) == BoxRelation.Inside)
            return [(CellSquare.Root, true)];

        open.Enqueue(CellSquare.Root);
        while (open.Count > 0 && found.Count + open.Count + 3 <= budget && open.Peek().Level < DeepestLevel)
        {
            cancellationToken.ThrowIfCancellationRequested();
            CellSquare square = open.Dequeue();
            for (int i = 0; i < 4; i++)
            {
                CellSquare quarter = square.Quarter(i);
                switch (region.RelationTo(quarter.Reach))
                {
                    case BoxRelation.Inside:
                        found.Add((quarter, true));
                        break;
                    case BoxRelation.Crosses:
                        open.Enqueue(quarter);
                        break;
                }
            }
        }

        foreach (CellSquare square in open)
            found.Add((square, false));
        found.Sort(static (x, y) => x.Square.First.CompareTo(y.Square.First));
        return found;
    }

    /// <summary>
    /// Merges the two neighbouring ranges whose union adds the fewest cells to be read or verified unnecessarily.
    /// </summary>
    private static void JoinNearest(List<CellRange> ranges)
    {
        Debug.Assert(ranges.Count > 1, "two ranges are joined");
        int best = 0;
        ulong least = ulong.MaxValue;
        for (int i = 1; i < ranges.Count; i++)
        {
            CellRange left = ranges[i - 1], right = ranges[i];
            ulong cost = right.First - left.Last - 1;
            if (left.IsInside)
                cost += (left.Last - left.First) >> 2;
            if (right.IsInside)
                cost += (right.Last - right.First) >> 2;
            if (cost < least)
            {
                least = cost;
                best = i;
            }
        }

        Debug.Assert(best > 0 && ranges[best - 1].Last < ranges[best].First, "ranges ascend and do not overlap");
        bool isInside = ranges[best - 1].IsInside && ranges[best].IsInside && ranges[best - 1].Last + 1 == ranges[best].First;
        ranges[best - 1] = new CellRange(ranges[best - 1].First, ranges[best].Last, isInside);
        ranges.RemoveAt(best);
    }
}
