namespace Treepie.Indexing.Spatial;

/// <summary>
/// All points within a distance of a centre, measured on the sphere, so correct around poles and across the dateline.
/// </summary>
internal readonly record struct Circle(GeoPoint Centre, double RadiusKm)
{
    /// <summary>
    /// Tolerance for computed values: only beyond it are areas inside or outside without looking at their points.
    /// </summary>
    private const double Slack = 1e-9;

    /// <summary>Most pieces into which a straight line is split; after that the wanted point counts as not found.</summary>
    private const int MaxPieces = 4096;

    /// <summary>Length in kilometres below which pieces are not split.</summary>
    private const double ShortestPieceKm = 1e-5;

    /// <summary>The haversine of the radius, see <see cref="Earth"/>.</summary>
    public double Haversine { get; } = Earth.OfKm(RadiusKm);

    public bool Contains(GeoPoint point) => Earth.Haversine(Centre, point) <= Haversine;

    public bool Contains(Vertex vertex) => Earth.Haversine(Centre.Latitude, vertex.Y, vertex.X - Centre.Longitude) <= Haversine;

    /// <summary>A bounding box, unwrapped around the centre.</summary>
    public GeoBox Bounds
    {
        get
        {
            double degrees = RadiusKm / (Earth.RadiusKm * Earth.Radians) * (1 + Slack);
            double south = Centre.Latitude - degrees, north = Centre.Latitude + degrees;
            if (south <= -90 || north >= 90)
                return new GeoBox(-180, Math.Max(-90, south), 180, Math.Min(90, north));

            // The meridians that touch the circle: sin Δλ = sin r / cos φ.
            double width = Math.Asin(Math.Min(1, Math.Sin(degrees * Earth.Radians) / Math.Cos(Centre.Latitude * Earth.Radians)))
                / Earth.Radians * (1 + Slack);
            return new GeoBox(Centre.Longitude - width, south, Centre.Longitude + width, north);
        }
    }

    /// <summary>The relation of a box that is at most 360° wide to the circle.</summary>
    public BoxRelation RelationTo(GeoBox box)
    {
        (double nearest, double farthest) = Range(box);
        if (nearest > Haversine * (1 + Slack))
            return BoxRelation.Outside;
        return farthest < Haversine * (1 - Slack) ? BoxRelation.Inside : BoxRelation.Crosses;
    }

    /// <summary>The least and the greatest haversine from the centre to a box.</summary>
    public (double Nearest, double Farthest) Range(GeoBox box)
    {
        double nearest = double.PositiveInfinity, farthest = 0;
        Along(box.MinX - Centre.Longitude, box, ref nearest, ref farthest);
        Along(box.MaxX - Centre.Longitude, box, ref nearest, ref farthest);
        if (HasMeridian(box, Centre.Longitude))
            Along(0, box, ref nearest, ref farthest);
        if (HasMeridian(box, Centre.Longitude + 180))
            Along(180, box, ref nearest, ref farthest);
        return (nearest, farthest);
    }

    /// <summary>Whether any point of a straight line on the map is inside.</summary>
    public bool Meets(Vertex a, Vertex b) => Contains(a) || Contains(b) || Search(a, b, inside: true);

    /// <summary>Whether all points of a straight line on the map are inside.</summary>
    public bool Covers(Vertex a, Vertex b) => Contains(a) && Contains(b) && !Search(a, b, inside: false);

    /// <summary>
    /// Along one meridian the distance has at most one minimum and one maximum between the ends:
    /// <c>sin φ₀ sin φ + cos φ₀ cos Δλ cos φ</c> is a sine with its maximum at <c>atan2(sin φ₀, cos φ₀ cos Δλ)</c>.
    /// </summary>
    private void Along(double longitudes, GeoBox box, ref double nearest, ref double farthest)
    {
        double latitude = Centre.Latitude * Earth.Radians;
        double top = Math.Atan2(Math.Sin(latitude), Math.Cos(latitude) * Math.Cos(longitudes * Earth.Radians)) / Earth.Radians;
        double bottom = top > 0 ? top - 180 : top + 180;
        foreach (double y in (ReadOnlySpan<double>)[box.MinY, box.MaxY, top, bottom])
        {
            if (y < box.MinY || y > box.MaxY)
                continue;
            double haversine = Earth.Haversine(Centre.Latitude, y, longitudes);
            nearest = Math.Min(nearest, haversine);
            farthest = Math.Max(farthest, haversine);
        }
    }

    private static bool HasMeridian(GeoBox box, double x)
    {
        double turned = x + (360 * Math.Ceiling((box.MinX - x) / 360));
        return turned <= box.MaxX;
    }

    /// <summary>
    /// Searches a line for a point on the wanted side: halves the line, and drops pieces that are too short to reach the rim
    /// from their middle. A piece is never longer on the sphere than its degrees on the equator.
    /// </summary>
    private bool Search(Vertex a, Vertex b, bool inside)
    {
        var open = new Stack<(Vertex A, Vertex B)>([(a, b)]);
        for (int pieces = 0; open.TryPop(out (Vertex A, Vertex B) piece) && pieces < MaxPieces; pieces++)
        {
            Vertex middle = Segments.At(piece.A, piece.B, 0.5);
            double haversine = Earth.Haversine(Centre.Latitude, middle.Y, middle.X - Centre.Longitude);
            if (haversine <= Haversine == inside)
                return true;

            double widest = Math.Cos(Math.Min(Math.Abs(piece.A.Y), Math.Abs(piece.B.Y)) * Earth.Radians);
            double x = (piece.B.X - piece.A.X) * (piece.A.Y * piece.B.Y < 0 ? 1 : widest), y = piece.B.Y - piece.A.Y;
            double lengthKm = Math.Sqrt((x * x) + (y * y)) * Earth.Radians * Earth.RadiusKm;
            if (lengthKm < ShortestPieceKm || Math.Abs(Earth.ToKm(haversine) - RadiusKm) > lengthKm / 2)
                continue;
            open.Push((piece.A, middle));
            open.Push((middle, piece.B));
        }

        return false;
    }
}
