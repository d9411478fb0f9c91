using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Spatial;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Tests up to 64 places at a time against a query's shape: first its bounding box, then the haversine kernel for a circle,
/// or one place after another for other shapes.
/// </summary>
internal sealed class PlaceTest
{
    /// <summary>
    /// With more corners than this, comparing a single place costs as much as a window, so cancellation is checked for each.
    /// </summary>
    private const int LargeCorners = 256;

    private readonly SpatialQuery _query;
    private readonly QueryContext _context;
    private readonly bool _isLarge;
    private readonly bool _isCircle;
    private readonly CentreOnGrid _centre;
    private readonly double _limit;
    private readonly bool _hasBox;
    private readonly uint _minX;
    private readonly uint _width;
    private readonly uint _minY;
    private readonly uint _height;

    public PlaceTest(SpatialQuery query, QueryContext context)
    {
        _query = query;
        _context = context;
        _isLarge = query.Shape.CornerCount > LargeCorners;
        _isCircle = query.Shape is { Circles: [_], Points: [], Lines: [], Polygons: [] }
            && query.Relation is SpatialRelation.Within or SpatialRelation.Intersects;
        if (_isCircle)
        {
            Circle circle = query.Shape.Circles[0];
            _centre = new CentreOnGrid(circle.Centre.Latitude * Earth.Radians, circle.Centre.Longitude * Earth.Radians);
            _limit = circle.Haversine;
        }

        // Any place that is not disjoint lies in the box, which is slightly larger than the shape. No box if it goes around
        // the earth.
        GeoBox box = query.Shape.Bounds.Grow(2 * Segments.Touch);
        _hasBox = query.Relation != SpatialRelation.Disjoint && box.MaxX - box.MinX < 359;
        if (!_hasBox)
            return;
        _minX = unchecked((uint)(long)Math.Floor((box.MinX + 180) / GridPoint.DegreesPerX));
        _width = (uint)Math.Ceiling((box.MaxX - box.MinX) / GridPoint.DegreesPerX) + 1;
        _minY = (uint)Math.Clamp(Math.Floor((box.MinY + 90) / GridPoint.DegreesPerY), 0, uint.MaxValue);
        _height = (uint)Math.Clamp(Math.Ceiling((box.MaxY + 90) / GridPoint.DegreesPerY), 0, uint.MaxValue) - _minY;
    }

    /// <summary>Returns the requested places that satisfy the relation, as a bitmap.</summary>
    public ulong Holds(ReadOnlySpan<uint> xs, ReadOnlySpan<uint> ys, ulong asked)
    {
        if (_hasBox && asked != 0)
            asked &= PointKernels.InBox(xs, ys, _minX, _width, _minY, _height);
        if (asked == 0)
            return 0;
        if (_isCircle)
            return PointKernels.Near(xs, ys, asked, _centre, _limit);

        ulong found = 0;
        for (; asked != 0; asked &= asked - 1)
        {
            if (_isLarge)
                _context.Check();
            int slot = BitOperations.TrailingZeroCount(asked);
            var place = new Vertex(GridPoint.LongitudeOf(xs[slot]), GridPoint.LatitudeOf(ys[slot]));
            if (GeometryRelations.Holds(_query.Relation, place, _query.Shape))
                found |= 1UL << slot;
        }

        return found;
    }
}
