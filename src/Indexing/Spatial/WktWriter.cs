using System.Globalization;
using System.Text;

namespace Treepie.Indexing.Spatial;

/// <summary>
/// Writes shapes as WKT that <see cref="WktParser"/> reads as the same shapes: longitude first, longitudes from −180 to 180,
/// circles with their radius in kilometres. A geometry with several parts is written as a collection.
/// </summary>
internal static class WktWriter
{
    /// <summary>Writes a shape.</summary>
    public static string Write(Geometry shape)
    {
        List<string> parts =
        [
            .. shape.Points.Select(static point => $"POINT ({Place(point)})"),
            .. shape.Lines.Select(static line => $"LINESTRING {Chain(line)}"),
            .. shape.Polygons.Select(static polygon => $"POLYGON ({string.Join(", ", polygon.Rings.Select(Ring))})"),
            .. shape.Circles.Select(
                static circle =>
                    $"CIRCLE ({Place(new Vertex(circle.Centre.Longitude, circle.Centre.Latitude))} d={Number(circle.RadiusKm)})"),
        ];
        return parts is [{ } only] ? only : $"GEOMETRYCOLLECTION ({string.Join(", ", parts)})";
    }

    private static string Ring(Vertex[] ring) => Chain(RingLayout.WithoutPole(ring));

    private static string Chain(Vertex[] chain)
    {
        var text = new StringBuilder("(");
        for (int i = 0; i < chain.Length; i++)
            text.Append(i == 0 ? "" : ", ").Append(Place(chain[i]));
        return text.Append(')').ToString();
    }

    /// <summary>Moves longitudes beyond the dateline back into range.</summary>
    private static string Place(Vertex place)
    {
        double longitude = place.X is >= -180 and <= 180 ? place.X : place.X - (360 * Math.Round(place.X / 360));
        return $"{Number(longitude)} {Number(place.Y)}";
    }

    /// <summary>
    /// Formats a number so that the same one is read again, without an exponent, which not every WKT reader supports.
    /// </summary>
    private static string Number(double value)
    {
        string shortest = value.ToString("R", CultureInfo.InvariantCulture);
        return shortest.Contains('E')
            && decimal.TryParse(shortest, NumberStyles.Float, CultureInfo.InvariantCulture, out decimal digits)
                ? digits.ToString(CultureInfo.InvariantCulture)
                : shortest;
    }
}
