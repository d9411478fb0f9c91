using System.Globalization;
using System.Text;

namespace Treepie.Server.Tests.Support;

/// <summary>A lawful polygon whose every edge lies beside most others: the dearest shape to read and to compare with.</summary>
internal static class Star
{
    /// <summary>WKT of a star around the origin with so many corners.</summary>
    public static string Wkt(int corners)
    {
        var text = new StringBuilder("POLYGON((");
        for (int i = 0; i <= corners; i++)
        {
            (double sine, double cosine) = Math.SinCos(2 * Math.PI * (i % corners) / corners);
            double radius = i % corners % 2 == 0 ? 80 : 1;
            text.Append(i == 0 ? "" : ", ").Append(CultureInfo.InvariantCulture, $"{radius * cosine:R} {radius * sine:R}");
        }

        return text.Append("))").ToString();
    }

    /// <summary>The body of a query that asks so often for what meets the star.</summary>
    public static string Query(int times, int corners) =>
        $$$"""{"Query":"from Places where {{{string.Join(" or ", Enumerable.Repeat("spatial.intersects(spatial.point(Lat, Lng), "
            + "spatial.wkt($p))", times))}}}","QueryParameters":{"p":"{{{Wkt(corners)}}}"}}""";
}
