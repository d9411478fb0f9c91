using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Spatial;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Tests up to 64 places at a time against the shape of a query: by its box first, then, for a circle, by the haversine kernel,
/// for other shapes one by one.
/// </summary>
internal sealed class PlaceTest
{
    /// <summary>From so many corners on every place that is compared with the shape costs as much as a window.</summary>
    private const int LargeCorners = 256;

    private readonly SpatialQuery query;
    private readonly QueryContext context;
    private readonly bool isLarge;
    private readonly bool isCircle;
    private readonly CentreOnGrid centre;
    private readonly double limit;
    private readonly bool hasBox;
    private readonly uint minX;
    private readonly uint width;
    private readonly uint minY;
    private readonly uint height;

    public PlaceTest(SpatialQuery query, QueryContext context)
    {
        this.query = query;
        this.context = context;
        isLarge = query.Shape.CornerCount > LargeCorners;
        isCircle = query.Shape is { Circles: [_], Points: [], Lines: [], Polygons: [] }
            && query.Relation is SpatialRelation.Within or SpatialRelation.Intersects;
        if (isCircle)
        {
            Circle circle = query.Shape.Circles[0];
            centre = new CentreOnGrid(circle.Centre.Latitude * Earth.Radians, circle.Centre.Longitude * Earth.Radians);
            limit = circle.Haversine;
        }

        // What is not disjoint is in the box. One a little wider than the shape, and none where that goes around the earth.
        GeoBox box = query.Shape.Bounds.Grow(2 * Segments.Touch);
        hasBox = query.Relation != SpatialRelation.Disjoint && box.MaxX - box.MinX < 359;
        if (!hasBox)
            return;
        minX = unchecked((uint)(long)Math.Floor((box.MinX + 180) / GridPoint.DegreesPerX));
        width = (uint)Math.Ceiling((box.MaxX - box.MinX) / GridPoint.DegreesPerX) + 1;
        minY = (uint)Math.Clamp(Math.Floor((box.MinY + 90) / GridPoint.DegreesPerY), 0, uint.MaxValue);
        height = (uint)Math.Clamp(Math.Ceiling((box.MaxY + 90) / GridPoint.DegreesPerY), 0, uint.MaxValue) - minY;
    }

    /// <summary>The asked-for places that lie as wanted, a bit each.</summary>
    public ulong Holds(ReadOnlySpan<uint> xs, ReadOnlySpan<uint> ys, ulong asked)
    {
        if (hasBox && asked != 0)
            asked &= PointKernels.InBox(xs, ys, minX, width, minY, height);
        if (asked == 0)
            return 0;
        if (isCircle)
            return PointKernels.Near(xs, ys, asked, centre, limit);

        ulong found = 0;
        for (; asked != 0; asked &= asked - 1)
        {
            if (isLarge)
                context.Check();
            int slot = BitOperations.TrailingZeroCount(asked);
            var place = new Vertex(GridPoint.LongitudeOf(xs[slot]), GridPoint.LatitudeOf(ys[slot]));
            if (GeometryRelations.Holds(query.Relation, place, query.Shape))
                found |= 1UL << slot;
        }

        return found;
    }
}
