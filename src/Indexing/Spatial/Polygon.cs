namespace Treepie.Indexing.Spatial;

/// <summary>
/// An outer ring and holes, unwrapped: neighbouring corners are less than 180° apart, so a ring that crosses the dateline
/// continues beyond it. Rings are closed: the last corner equals the first. The border belongs to the polygon.
/// </summary>
internal sealed class Polygon
{
    private static readonly double[] _turns = [0, -360, 360];

    public Polygon(Vertex[][] rings)
    {
        Rings = rings;
        Bounds = GeoBox.Of(rings[0]);
    }

    /// <summary>The rings, the outer one first.</summary>
    public Vertex[][] Rings { get; }

    public GeoBox Bounds { get; }

    /// <summary>Whether a point is inside or on the border, in any of the turns of the map by 360°.</summary>
    public bool Contains(Vertex point)
    {
        foreach (double turn in _turns)
        {
            if (PlaceOf(new Vertex(point.X + turn, point.Y)) != RingPlace.Outside)
                return true;
        }

        return false;
    }

    /// <summary>The position of a point, without turning the map.</summary>
    public RingPlace PlaceOf(Vertex point)
    {
        if (!Bounds.Contains(point))
            return RingPlace.Outside;

        bool isInside = false;
        foreach (Vertex[] ring in Rings)
        {
            for (int i = 1; i < ring.Length; i++)
            {
                Vertex a = ring[i - 1], b = ring[i];
                if (a.Y > point.Y == b.Y > point.Y)
                {
                    if (a.Y == point.Y && b.Y == point.Y && point.X >= Math.Min(a.X, b.X) && point.X <= Math.Max(a.X, b.X))
                        return RingPlace.Border;
                    if (a == point || b == point)
                        return RingPlace.Border;
                    continue;
                }

                double side = Segments.Side(a, b, point);
                if (side == 0)
                    return RingPlace.Border;
                if (side > 0 == b.Y > a.Y)
                    isInside = !isInside;
            }
        }

        return isInside ? RingPlace.Inside : RingPlace.Outside;
    }

    /// <summary>The relation of a box to the polygon.</summary>
    public BoxRelation RelationTo(GeoBox box)
    {
        BoxRelation relation = BoxRelation.Outside;
        foreach (double turn in _turns)
        {
            GeoBox turned = box.Shift(turn);
            if (!Bounds.Overlaps(turned))
                continue;
            if (AnyEdgeMeets(turned))
                return BoxRelation.Crosses;
            if (PlaceOf(new Vertex(turned.MinX, turned.MinY)) != RingPlace.Outside)
                relation = BoxRelation.Inside;
        }

        return relation;
    }

    private bool AnyEdgeMeets(GeoBox box)
    {
        foreach (Vertex[] ring in Rings)
        {
            for (int i = 1; i < ring.Length; i++)
            {
                if (Segments.Meets(ring[i - 1], ring[i], box))
                    return true;
            }
        }

        return false;
    }
}

/// <summary>The position of a point relative to a polygon.</summary>
internal enum RingPlace
{
    Outside,
    Border,
    Inside,
}
