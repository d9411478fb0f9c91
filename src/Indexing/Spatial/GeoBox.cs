namespace Treepie.Indexing.Spatial;

/// <summary>A rectangle in degrees. X may be outside ±180 for a shape across the dateline, which is unwrapped.</summary>
internal readonly record struct GeoBox(double MinX, double MinY, double MaxX, double MaxY)
{
    public static GeoBox Empty =>
        new(double.PositiveInfinity, double.PositiveInfinity, double.NegativeInfinity, double.NegativeInfinity);

    public bool IsEmpty => MinX > MaxX;

    public GeoPoint Centre
    {
        get
        {
            double x = (MinX + MaxX) / 2;
            return new GeoPoint((MinY + MaxY) / 2, x > 180 ? x - 360 : x < -180 ? x + 360 : x);
        }
    }

    public GeoBox Shift(double x) => new(MinX + x, MinY, MaxX + x, MaxY);

    public GeoBox Grow(double degrees) => new(MinX - degrees, MinY - degrees, MaxX + degrees, MaxY + degrees);

    public GeoBox With(Vertex vertex) =>
        new(Math.Min(MinX, vertex.X), Math.Min(MinY, vertex.Y), Math.Max(MaxX, vertex.X), Math.Max(MaxY, vertex.Y));

    public GeoBox With(GeoBox other) =>
        new(Math.Min(MinX, other.MinX), Math.Min(MinY, other.MinY), Math.Max(MaxX, other.MaxX), Math.Max(MaxY, other.MaxY));

    public bool Contains(Vertex vertex) => vertex.X >= MinX && vertex.X <= MaxX && vertex.Y >= MinY && vertex.Y <= MaxY;

    public bool Overlaps(GeoBox other) => MinX <= other.MaxX && other.MinX <= MaxX && MinY <= other.MaxY && other.MinY <= MaxY;

    public static GeoBox Of(ReadOnlySpan<Vertex> vertices)
    {
        GeoBox box = Empty;
        foreach (Vertex vertex in vertices)
            box = box.With(vertex);
        return box;
    }
}

/// <summary>A corner of a shape on the flat map: longitude and latitude, in degrees.</summary>
internal readonly record struct Vertex(double X, double Y);

/// <summary>The relation of a box to a region.</summary>
internal enum BoxRelation
{
    /// <summary>No point of the box is in the region.</summary>
    Outside,

    /// <summary>Some points may be.</summary>
    Crosses,

    /// <summary>Every point of the box is.</summary>
    Inside,
}
