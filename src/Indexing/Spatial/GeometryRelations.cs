namespace Treepie.Indexing.Spatial;

/// <summary>
/// Exact relations of two shapes. Cancellation is checked for every edge that is compared with all of another shape. Cost:
/// the edges of one shape times the edges of the other that lie in the first one's box. Shapes that only touch have a common
/// point, and parts that protrude by at most <see cref="Segments.Touch"/> count as inside.
/// </summary>
internal static class GeometryRelations
{
    private static readonly double[] _turns = [0, -360, 360];

    /// <summary>Whether a value has the required relation to the shape of a query.</summary>
    public static bool Holds(
        SpatialRelation relation, Geometry value, Geometry shape,
        CancellationToken cancellationToken = default) => relation switch
        {
            SpatialRelation.Within => Within(value, shape, cancellationToken),
            SpatialRelation.Contains => Within(shape, value, cancellationToken),
            SpatialRelation.Intersects => Intersects(value, shape, cancellationToken),
            _ => !Intersects(value, shape, cancellationToken),
        };

    /// <summary>Like the other overload, for a value that is a single point.</summary>
    public static bool Holds(SpatialRelation relation, Vertex point, Geometry shape) => relation switch
    {
        SpatialRelation.Contains => shape is { Lines: [], Polygons: [] }
            && shape.Circles.All(circle => circle.RadiusKm == 0)
            && shape.Contains(point)
            && shape.Points.All(other => Touch(point, other)),
        SpatialRelation.Disjoint => !shape.Contains(point),
        _ => shape.Contains(point),
    };

    public static bool Intersects(Geometry left, Geometry right, CancellationToken cancellationToken = default)
    {
        foreach (Vertex place in Representatives(left))
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (right.Contains(place))
                return true;
        }

        foreach (Vertex place in Representatives(right))
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (left.Contains(place))
                return true;
        }

        foreach (Circle circle in left.Circles)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (Meets(circle, right))
                return true;
        }

        foreach (Circle circle in right.Circles)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (Meets(circle, left))
                return true;
        }

        return EdgesMeet(left, right, cancellationToken);
    }

    /// <summary>Whether the whole inner shape is inside the outer one.</summary>
    public static bool Within(Geometry inner, Geometry outer, CancellationToken cancellationToken = default)
    {
        foreach (Vertex point in inner.Points)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (!Covers(outer, point))
                return false;
        }

        foreach (Vertex[] line in inner.Lines)
        {
            if (!IsCovered(line, outer, cancellationToken))
                return false;
        }

        foreach (Polygon polygon in inner.Polygons)
        {
            if (!IsWithin(polygon, outer, cancellationToken))
                return false;
        }

        foreach (Circle circle in inner.Circles)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (!IsWithin(circle, outer))
                return false;
        }

        return true;
    }

    private static bool Touch(Vertex left, Vertex right) =>
        _turns.Any(turn => Segments.Touches(right, right, new Vertex(left.X + turn, left.Y)));

    /// <summary>Returns one point of each part.</summary>
    private static IEnumerable<Vertex> Representatives(Geometry geometry) => geometry.Points
        .Concat(geometry.Lines.Select(line => line[0]))
        .Concat(geometry.Polygons.Select(polygon => polygon.Rings[0][0]))
        .Concat(geometry.Circles.Select(circle => new Vertex(circle.Centre.Longitude, circle.Centre.Latitude)));

    private static IEnumerable<Vertex[]> Chains(Geometry geometry) =>
        geometry.Lines.Concat(geometry.Polygons.SelectMany(polygon => polygon.Rings));

    private static bool Meets(Circle circle, Geometry other)
    {
        foreach (Circle second in other.Circles)
        {
            if (Earth.DistanceKm(circle.Centre, second.Centre) <= circle.RadiusKm + second.RadiusKm)
                return true;
        }

        foreach (Vertex[] chain in Chains(other))
        {
            for (int i = 1; i < chain.Length; i++)
            {
                if (circle.Meets(chain[i - 1], chain[i]))
                    return true;
            }
        }

        return false;
    }

    private static bool EdgesMeet(Geometry left, Geometry right, CancellationToken cancellationToken)
    {
        foreach (double turn in _turns)
        {
            GeoBox bounds = right.Bounds.Shift(turn).Grow(Segments.Touch);
            if (!bounds.Overlaps(left.Bounds))
                continue;
            List<(Vertex A, Vertex B)> edges = EdgesIn(left, bounds, 0);
            if (edges.Count == 0)
                continue;
            foreach ((Vertex c, Vertex d) in EdgesIn(right, left.Bounds.Grow(Segments.Touch), turn))
            {
                cancellationToken.ThrowIfCancellationRequested();
                foreach ((Vertex a, Vertex b) in edges)
                {
                    if (Segments.Intersect(a, b, c, d))
                        return true;
                }
            }
        }

        return false;
    }

    private static List<(Vertex A, Vertex B)> EdgesIn(Geometry geometry, GeoBox box, double turn)
    {
        var edges = new List<(Vertex, Vertex)>();
        if (!geometry.Bounds.Shift(turn).Overlaps(box))
            return edges;
        foreach (Vertex[] chain in Chains(geometry))
        {
            for (int i = 1; i < chain.Length; i++)
            {
                var a = new Vertex(chain[i - 1].X + turn, chain[i - 1].Y);
                var b = new Vertex(chain[i].X + turn, chain[i].Y);
                if (Segments.Meets(a, b, box))
                    edges.Add((a, b));
            }
        }

        return edges;
    }

    /// <summary>Like <see cref="Geometry.Contains"/>, but a border is as wide as a line.</summary>
    private static bool Covers(Geometry outer, Vertex place)
    {
        if (outer.Contains(place))
            return true;

        var near = new GeoBox(
            place.X - Segments.Touch, place.Y - Segments.Touch, place.X + Segments.Touch, place.Y + Segments.Touch);
        foreach (double turn in _turns)
        {
            foreach ((Vertex a, Vertex b) in EdgesIn(outer, near, turn))
            {
                if (Segments.Touches(a, b, place))
                    return true;
            }
        }

        return false;
    }

    private static bool IsCovered(Vertex[] chain, Geometry outer, CancellationToken cancellationToken)
    {
        for (int i = 1; i < chain.Length; i++)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (!IsCovered(chain[i - 1], chain[i], outer))
                return false;
        }

        return true;
    }

    /// <summary>
    /// A line is split where it meets the edges of the shape; it is inside if the middle of every piece is.
    /// </summary>
    private static bool IsCovered(Vertex a, Vertex b, Geometry outer)
    {
        foreach (Circle circle in outer.Circles)
        {
            if (circle.Covers(a, b))
                return true;
        }

        if (!Covers(outer, a) || !Covers(outer, b))
            return false;
        List<double> places = [0, 1];
        GeoBox box = GeoBox.Of([a, b]).Grow(Segments.Touch);
        foreach (double turn in _turns)
        {
            foreach ((Vertex c, Vertex d) in EdgesIn(outer, box, turn))
                Segments.AddMeetings(a, b, c, d, places);
        }

        places.Sort();
        for (int i = 1; i < places.Count; i++)
        {
            if (places[i] > places[i - 1] && !Covers(outer, Segments.At(a, b, (places[i - 1] + places[i]) / 2)))
                return false;
        }

        return true;
    }

    private static bool IsWithin(Polygon polygon, Geometry outer, CancellationToken cancellationToken)
    {
        foreach (Circle circle in outer.Circles)
        {
            if (IsWithin(polygon, circle))
                return true;
        }

        return polygon.Rings.All(ring => IsCovered(ring, outer, cancellationToken))
            && !AnyBorderInside(polygon, outer, cancellationToken);
    }

    /// <summary>
    /// If its border is inside, only a polygon that contains the far side of the circle has points outside.
    /// </summary>
    private static bool IsWithin(Polygon polygon, Circle circle)
    {
        Vertex[] ring = polygon.Rings[0];
        for (int i = 1; i < ring.Length; i++)
        {
            if (!circle.Covers(ring[i - 1], ring[i]))
                return false;
        }

        double far = circle.Centre.Longitude > 0 ? circle.Centre.Longitude - 180 : circle.Centre.Longitude + 180;
        return circle.RadiusKm >= Earth.MaxDistanceKm || !polygon.Contains(new Vertex(far, -circle.Centre.Latitude));
    }

    /// <summary>
    /// Whether a border of the outer shape is inside the polygon, which then has points outside next to it.
    /// </summary>
    private static bool AnyBorderInside(Polygon polygon, Geometry outer, CancellationToken cancellationToken)
    {
        var mine = new Geometry([], [], [polygon], []);
        var others = new Geometry([], [], outer.Polygons, []);
        foreach (double turn in _turns)
        {
            foreach ((Vertex a, Vertex b) in EdgesIn(others, polygon.Bounds, turn))
            {
                cancellationToken.ThrowIfCancellationRequested();
                List<double> places = [0, 1];
                foreach ((Vertex c, Vertex d) in EdgesIn(mine, GeoBox.Of([a, b]).Grow(Segments.Touch), 0))
                    Segments.AddMeetings(a, b, c, d, places);
                places.Sort();
                for (int i = 1; i < places.Count; i++)
                {
                    Vertex middle = Segments.At(a, b, (places[i - 1] + places[i]) / 2);
                    if (places[i] > places[i - 1] && polygon.PlaceOf(middle) == RingPlace.Inside && !TouchesBorder(mine, middle))
                        return true;
                }
            }
        }

        return false;
    }

    private static bool TouchesBorder(Geometry geometry, Vertex place)
    {
        var near = new GeoBox(
            place.X - Segments.Touch, place.Y - Segments.Touch, place.X + Segments.Touch, place.Y + Segments.Touch);
        foreach ((Vertex a, Vertex b) in EdgesIn(geometry, near, 0))
        {
            if (Segments.Touches(a, b, place))
                return true;
        }

        return false;
    }

    private static bool IsWithin(Circle circle, Geometry outer)
    {
        const double Slack = 1e-9;
        foreach (Circle other in outer.Circles)
        {
            if (other.RadiusKm >= Earth.MaxDistanceKm
                || Earth.DistanceKm(circle.Centre, other.Centre) + circle.RadiusKm <= other.RadiusKm * (1 + Slack))
            {
                return true;
            }
        }

        var centre = new Vertex(circle.Centre.Longitude, circle.Centre.Latitude);
        if (circle.RadiusKm == 0)
            return Covers(outer, centre);
        Circle narrower = circle with { RadiusKm = circle.RadiusKm * (1 - Slack) };
        return outer.Polygons.Any(polygon => polygon.Contains(centre) && !Meets(narrower, new Geometry([], [], [polygon], [])));
    }
}
