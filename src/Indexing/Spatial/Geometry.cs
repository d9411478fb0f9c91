namespace Treepie.Indexing.Spatial;

/// <summary>
/// A point or shape: points, lines, polygons with holes, circles, or several of them. Immutable. Edges are straight on the flat
/// map of longitudes and latitudes and take the shorter way around; circles are measured on the sphere.
/// </summary>
public sealed class Geometry
{
    private static readonly double[] _turns = [0, -360, 360];

    internal Geometry(Vertex[] points, Vertex[][] lines, Polygon[] polygons, Circle[] circles)
    {
        Points = points;
        Lines = lines;
        Polygons = polygons;
        Circles = circles;
        GeoBox bounds = GeoBox.Of(points);
        foreach (Vertex[] line in lines)
            bounds = bounds.With(GeoBox.Of(line));
        foreach (Polygon polygon in polygons)
            bounds = bounds.With(polygon.Bounds);
        foreach (Circle circle in circles)
            bounds = bounds.With(circle.Bounds);
        Bounds = bounds;
    }

    /// <summary>The centre of its bounding box, from which distances are measured.</summary>
    public GeoPoint Centre => Circles is [{ } circle] && IsSingle ? circle.Centre : Bounds.Centre;

    /// <summary>The number of points, corners and circles, which determines the cost of comparisons.</summary>
    public int CornerCount =>
        Points.Length + Circles.Length + Lines.Sum(static line => line.Length)
            + Polygons.Sum(static polygon => polygon.Rings.Sum(static ring => ring.Length));

    internal Vertex[] Points { get; }

    internal Vertex[][] Lines { get; }

    internal Polygon[] Polygons { get; }

    internal Circle[] Circles { get; }

    /// <summary>Bounding box of all parts, unwrapped across the dateline.</summary>
    internal GeoBox Bounds { get; }

    /// <summary>Whether it is a single point.</summary>
    internal bool IsPoint => Points.Length == 1 && IsSingle;

    private bool IsSingle => Points.Length + Lines.Length + Polygons.Length + Circles.Length == 1;

    /// <summary>Creates a point.</summary>
    public static Geometry Point(GeoPoint point) => new([new Vertex(point.Longitude, point.Latitude)], [], [], []);

    /// <summary>Creates a circle with a radius, which may be 0.</summary>
    /// <exception cref="InvalidGeometryException">The radius is negative or not a number.</exception>
    public static Geometry Around(GeoPoint centre, double radiusKm) => radiusKm >= 0
        ? new Geometry([], [], [], [new Circle(centre, Math.Min(radiusKm, 2 * Earth.MaxDistanceKm))])
        : throw new InvalidGeometryException("The radius of a circle is a number of at least 0.");

    /// <summary>Parses WKT; see <see cref="WktParser"/>.</summary>
    /// <param name="wkt">The text.</param>
    /// <param name="kmPerUnit">The number of kilometres per unit of a radius in the text.</param>
    /// <param name="cancellationToken">Cancels parsing: checking a ring of thousands of corners for crossings can take a good
    /// part of a second.</param>
    /// <exception cref="InvalidGeometryException">The text is not WKT, or describes an invalid shape.</exception>
    public static Geometry Parse(string wkt, double kmPerUnit = 1, CancellationToken cancellationToken = default) =>
        new WktParser(wkt, kmPerUnit, cancellationToken).Parse();

    /// <summary>
    /// Whether a point is inside or on the border; points and lines are as wide as <see cref="Segments.Touch"/>.
    /// </summary>
    internal bool Contains(Vertex place)
    {
        foreach (Circle circle in Circles)
        {
            if (circle.Contains(place))
                return true;
        }

        foreach (Polygon polygon in Polygons)
        {
            if (polygon.Contains(place))
                return true;
        }

        return Points.Length + Lines.Length > 0 && TouchesThin(place);
    }

    /// <summary>The relation of a box of the grid to the geometry.</summary>
    internal BoxRelation RelationTo(GeoBox box)
    {
        BoxRelation relation = BoxRelation.Outside;
        foreach (Circle circle in Circles)
        {
            BoxRelation one = circle.RelationTo(box);
            relation = one > relation ? one : relation;
        }

        foreach (Polygon polygon in Polygons)
        {
            if (relation == BoxRelation.Inside)
                return relation;
            BoxRelation one = polygon.RelationTo(box);
            relation = one > relation ? one : relation;
        }

        return relation == BoxRelation.Outside && MeetsThin(box.Grow(Segments.Touch)) ? BoxRelation.Crosses : relation;
    }

    private bool TouchesThin(Vertex place)
    {
        foreach (double turn in _turns)
        {
            var turned = new Vertex(place.X + turn, place.Y);
            foreach (Vertex point in Points)
            {
                if (Segments.Touches(point, point, turned))
                    return true;
            }

            foreach (Vertex[] line in Lines)
            {
                for (int i = 1; i < line.Length; i++)
                {
                    if (Segments.Touches(line[i - 1], line[i], turned))
                        return true;
                }
            }
        }

        return false;
    }

    private bool MeetsThin(GeoBox box)
    {
        foreach (double turn in _turns)
        {
            GeoBox turned = box.Shift(turn);
            foreach (Vertex point in Points)
            {
                if (turned.Contains(point))
                    return true;
            }

            foreach (Vertex[] line in Lines)
            {
                for (int i = 1; i < line.Length; i++)
                {
                    if (Segments.Meets(line[i - 1], line[i], turned))
                        return true;
                }
            }
        }

        return false;
    }
}

/// <summary>The required relation of the values of a spatial field to the shape of a query.</summary>
public enum SpatialRelation
{
    /// <summary>The value lies completely within the shape, including its border.</summary>
    Within,

    /// <summary>The value completely contains the shape.</summary>
    Contains,

    /// <summary>The value and the shape have at least one point in common.</summary>
    Intersects,

    /// <summary>The values and the shape have no point in common; the entry has a value.</summary>
    Disjoint,
}
