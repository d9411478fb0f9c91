namespace Treepie.Indexing.Spatial;

/// <summary>Straight lines on the flat map of longitudes and latitudes. The edges of WKT shapes are such lines.</summary>
internal static class Segments
{
    /// <summary>Points nearer than this touch, in degrees: 1.1 cm, about the grid of stored points.</summary>
    public const double Touch = 1e-7;

    /// <summary>Twice the signed area of a triangle: positive if c is left of the line from a to b.</summary>
    public static double Side(Vertex a, Vertex b, Vertex c) => ((b.X - a.X) * (c.Y - a.Y)) - ((b.Y - a.Y) * (c.X - a.X));

    /// <summary>Whether a point is at most <see cref="Touch"/> from a segment.</summary>
    public static bool Touches(Vertex a, Vertex b, Vertex point) => SquaredDistance(a, b, point) <= Touch * Touch;

    /// <summary>Whether two segments have a point in common, including ends.</summary>
    public static bool Intersect(Vertex a, Vertex b, Vertex c, Vertex d)
    {
        if (Math.Max(a.X, b.X) < Math.Min(c.X, d.X) || Math.Max(c.X, d.X) < Math.Min(a.X, b.X)
            || Math.Max(a.Y, b.Y) < Math.Min(c.Y, d.Y) || Math.Max(c.Y, d.Y) < Math.Min(a.Y, b.Y))
        {
            return false;
        }

        double fromC = Side(a, b, c), fromD = Side(a, b, d);
        if ((fromC > 0 && fromD > 0) || (fromC < 0 && fromD < 0))
            return false;
        double fromA = Side(c, d, a), fromB = Side(c, d, b);
        return !((fromA > 0 && fromB > 0) || (fromA < 0 && fromB < 0));
    }

    /// <summary>Whether a segment has a point in a box.</summary>
    public static bool Meets(Vertex a, Vertex b, GeoBox box)
    {
        if (Math.Max(a.X, b.X) < box.MinX
            || Math.Min(a.X, b.X) > box.MaxX
            || Math.Max(a.Y, b.Y) < box.MinY
            || Math.Min(a.Y, b.Y) > box.MaxY)
            return false;
        double first = Side(a, b, new Vertex(box.MinX, box.MinY));
        double second = Side(a, b, new Vertex(box.MaxX, box.MinY));
        double third = Side(a, b, new Vertex(box.MaxX, box.MaxY));
        double fourth = Side(a, b, new Vertex(box.MinX, box.MaxY));
        bool allLeft = first > 0 && second > 0 && third > 0 && fourth > 0;
        bool allRight = first < 0 && second < 0 && third < 0 && fourth < 0;
        return !allLeft && !allRight;
    }

    /// <summary>
    /// Adds the places on the segment a–b, from 0 to 1 exclusive, where it meets c–d. If both are on one line, these are the
    /// ends of the overlap.
    /// </summary>
    public static void AddMeetings(Vertex a, Vertex b, Vertex c, Vertex d, List<double> places)
    {
        if (!Intersect(a, b, c, d))
            return;

        double dx = b.X - a.X, dy = b.Y - a.Y, ex = d.X - c.X, ey = d.Y - c.Y;
        double cross = (dx * ey) - (dy * ex);
        if (cross != 0)
        {
            double place = (((c.X - a.X) * ey) - ((c.Y - a.Y) * ex)) / cross;
            if (place is > 0 and < 1)
                places.Add(place);
            return;
        }

        double length = (dx * dx) + (dy * dy);
        if (length == 0)
            return;
        foreach (Vertex end in (ReadOnlySpan<Vertex>)[c, d])
        {
            double place = (((end.X - a.X) * dx) + ((end.Y - a.Y) * dy)) / length;
            if (place is > 0 and < 1)
                places.Add(place);
        }
    }

    public static Vertex At(Vertex a, Vertex b, double place) => new(a.X + ((b.X - a.X) * place), a.Y + ((b.Y - a.Y) * place));

    private static double SquaredDistance(Vertex a, Vertex b, Vertex point)
    {
        double dx = b.X - a.X, dy = b.Y - a.Y;
        double length = (dx * dx) + (dy * dy);
        double place = length == 0 ? 0 : Math.Clamp((((point.X - a.X) * dx) + ((point.Y - a.Y) * dy)) / length, 0, 1);
        double x = point.X - a.X - (dx * place), y = point.Y - a.Y - (dy * place);
        return (x * x) + (y * y);
    }
}
