using System.Globalization;
using Treepie.Indexing.Spatial;

namespace Treepie.Indexing.Tests.Spatial;

/// <summary>
/// Shapes and places anywhere, with the dateline and the poles more often than chance would have it, and tests of them by plain
/// formulas.
/// </summary>
internal static class RandomShapes
{
    public static GeoPoint Place(Random random) => random.Next(5) switch
    {
        0 => new GeoPoint(Latitude(random), Turn(180 + Spread(random))),
        1 => new GeoPoint(
            random.Next(2) == 0 ? 90 - (5 * random.NextDouble()) : -90 + (5 * random.NextDouble()), Longitude(random)),
        2 => new GeoPoint(Spread(random), Spread(random)),
        _ => new GeoPoint(Math.Asin((2 * random.NextDouble()) - 1) * 180 / Math.PI, Longitude(random)),
    };

    /// <summary>Distance by the angle of two directions, which is not the formula of the engine.</summary>
    public static double DistanceKm(GeoPoint left, GeoPoint right)
    {
        (double X, double Y, double Z) a = Direction(left), b = Direction(right);
        double x = (a.Y * b.Z) - (a.Z * b.Y), y = (a.Z * b.X) - (a.X * b.Z), z = (a.X * b.Y) - (a.Y * b.X);
        double dot = (a.X * b.X) + (a.Y * b.Y) + (a.Z * b.Z);
        return Earth.RadiusKm * Math.Atan2(Math.Sqrt((x * x) + (y * y) + (z * z)), dot);
    }

    public static double Turn(double x) => x > 180 ? x - 360 : x < -180 ? x + 360 : x;

    public static Star DrawStar(Random random)
    {
        double y = (random.NextDouble() * 100) - 50,
            x = random.Next(2) == 0 ? Turn(180 + (Spread(random) * 3)) : Longitude(random);
        double size = Math.Pow(10, (random.NextDouble() * 4) - 2.5);
        int count = random.Next(3, 12);
        double start = random.NextDouble() * Math.PI;
        var corners = new (double X, double Y)[count];
        for (int i = 0; i < count; i++)
        {
            // Angles at least a little apart, so that no two corners are one.
            double angle = start + (2 * Math.PI * (i + (0.6 * random.NextDouble())) / count),
                radius = size * (0.3 + (0.7 * random.NextDouble()));
            corners[i] = (radius * Math.Cos(angle), radius * Math.Sin(angle));
        }

        return new Star(new GeoPoint(y, x), corners, size);
    }

    private static double Latitude(Random random) => (random.NextDouble() * 180) - 90;

    private static double Longitude(Random random) => (random.NextDouble() * 360) - 180;

    private static double Spread(Random random) => (random.NextDouble() - 0.5) * Math.Pow(10, random.Next(-2, 2));

    private static (double X, double Y, double Z) Direction(GeoPoint point)
    {
        double latitude = point.Latitude * Math.PI / 180, longitude = point.Longitude * Math.PI / 180;
        return (Math.Cos(latitude) * Math.Cos(longitude), Math.Cos(latitude) * Math.Sin(longitude), Math.Sin(latitude));
    }

    /// <summary>A polygon seen from a centre, corners in degrees from there.</summary>
    public sealed record Star(GeoPoint Centre, (double X, double Y)[] Corners, double Size)
    {
        public string Wkt => "POLYGON((" + string.Join(", ", Corners.Append(Corners[0]).Select(corner =>
            string.Create(CultureInfo.InvariantCulture, $"{Turn(Centre.Longitude + corner.X):R} {Centre.Latitude + corner.Y:R}")))
                + "))";

        public GeoPoint Near(Random random) => new(
            Centre.Latitude + (((random.NextDouble() * 3) - 1.5) * Size),
            Turn(Centre.Longitude + (((random.NextDouble() * 3) - 1.5) * Size)));

        /// <summary>
        /// By the winding of the corners around the point; -1 where it is too near an edge for two formulas to agree.
        /// </summary>
        public int Winding(GeoPoint point)
        {
            double x = Turn(point.Longitude - Centre.Longitude), y = point.Latitude - Centre.Latitude, turned = 0;
            for (int i = 0; i < Corners.Length; i++)
            {
                (double ax, double ay) = (Corners[i].X - x, Corners[i].Y - y);
                (double bx, double by) = (Corners[(i + 1) % Corners.Length].X - x, Corners[(i + 1) % Corners.Length].Y - y);
                double cross = (ax * by) - (ay * bx), dot = (ax * bx) + (ay * by);
                if (dot <= 0 && Math.Abs(cross) < 3e-7 * Math.Sqrt(((ax - bx) * (ax - bx)) + ((ay - by) * (ay - by))))
                    return -1;
                turned += Math.Atan2(cross, dot);
            }

            return Math.Abs(turned) > Math.PI ? 1 : 0;
        }
    }
}
