using Treepie.Indexing.Spatial;

namespace Treepie.Indexing.Tests.Spatial;

public sealed class WktParserTests
{
    [Theory]
    [InlineData("POINT(4.154 49.255)", 1, 0, 0, 0)]
    [InlineData(" point ( -180 +9e1 ) ", 1, 0, 0, 0)]
    [InlineData("SRID=4326;POINT(1 2)", 1, 0, 0, 0)]
    [InlineData("LINESTRING(0 0, 1 1, 2 0)", 0, 1, 0, 0)]
    [InlineData("POLYGON((0 0, 10 0, 10 10, 0 10, 0 0))", 0, 0, 1, 0)]
    [InlineData("POLYGON((0 0, 0 10, 10 10, 10 0, 0 0), (2 2, 3 2, 3 3, 2 2))", 0, 0, 1, 0)]
    [InlineData("MULTIPOINT((1 2), (3 4))", 2, 0, 0, 0)]
    [InlineData("MULTIPOINT(1 2, 3 4, 5 6)", 3, 0, 0, 0)]
    [InlineData("MULTILINESTRING((0 0, 1 1), (2 2, 3 3))", 0, 2, 0, 0)]
    [InlineData("MULTIPOLYGON(((0 0, 1 0, 1 1, 0 0)), ((5 5, 6 5, 6 6, 5 5)))", 0, 0, 2, 0)]
    [InlineData("GEOMETRYCOLLECTION(POINT(1 2), GEOMETRYCOLLECTION(LINESTRING(0 0, 1 1)), CIRCLE(1 2 d=3))", 1, 1, 0, 1)]
    [InlineData("ENVELOPE(170, -170, 10, -10)", 0, 0, 1, 0)]
    [InlineData("Circle(-122.31 47.616 d=1.5)", 0, 0, 0, 1)]
    [InlineData("CIRCLE(1,2 d=0)", 0, 0, 0, 1)]
    [InlineData("BUFFER(POINT(1 2), 3)", 0, 0, 0, 1)]
    [InlineData("POLYGON((-180 -90, 180 -90, 180 90, -180 90, -180 -90))", 0, 0, 1, 0)]
    [InlineData("POLYGON((0 60, 90 60, 180 60, -90 60, 0 60))", 0, 0, 1, 0)]
    public void What_is_well_known_text_is_read(string text, int points, int lines, int polygons, int circles)
    {
        var shape = Geometry.Parse(text);
        Assert.Equal(
            (points, lines, polygons, circles),
            (shape.Points.Length, shape.Lines.Length, shape.Polygons.Length, shape.Circles.Length));
    }

    [Theory]
    [InlineData("", "Expected POINT")]
    [InlineData("POINT", "Expected '('")]
    [InlineData("POINT EMPTY", "without points")]
    [InlineData("POINT Z (1 2 3)", "heights")]
    [InlineData("POINT(1 2 3)", "Expected ')'")]
    [InlineData("POINT(NaN 2)", "Expected a number")]
    [InlineData("POINT(1e999 2)", "Expected a number")]
    [InlineData("POINT(181 2)", "longitude")]
    [InlineData("POINT(49.2 -91)", "latitude")]
    [InlineData("POINT(1 2) x", "Expected the end")]
    [InlineData("SRID=3857;POINT(1 2)", "WGS 84")]
    [InlineData("LINESTRING(1 1)", "two different points")]
    [InlineData("LINESTRING(1 1, 1 1)", "two different points")]
    [InlineData("POLYGON((0 0, 1 0, 1 1))", "four points")]
    [InlineData("POLYGON((0 0, 1 0, 1 1, 0 1))", "the last is the first")]
    [InlineData("POLYGON((0 0, 1 0, 0 0, 0 0))", "no area")]
    [InlineData("POLYGON((0 0, 10 10, 10 0, 0 10, 0 0))", "crosses or touches itself")]
    [InlineData("POLYGON((0 0, 5 0, 10 0, 5 0, 0 0))", "crosses or touches itself")]
    [InlineData("POLYGON((0 0, 10 0, 10 10, 0 10, 0 0), (20 20, 21 20, 21 21, 20 20))", "is not inside")]
    [InlineData("ENVELOPE(0, 10, -5, 5)", "north lies below")]
    [InlineData("CIRCLE(1 2 3)", "'d='")]
    [InlineData("CIRCLE(1 2 d=-3)", "radius")]
    [InlineData("TRIANGLE((0 0, 1 0, 1 1, 0 0))", "Expected POINT")]
    public void What_is_none_is_refused_with_the_reason(string text, string reason)
    {
        InvalidGeometryException error = Assert.Throws<InvalidGeometryException>(() => Geometry.Parse(text));
        Assert.Contains(reason, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void What_is_too_large_is_refused_before_it_costs_much()
    {
        string ring = string.Join(", ", Enumerable.Range(0, WktParser.MaxVertices + 5).Select(i => $"{i / 1000.0} 0"));
        Assert.Contains(
            "more than 10,000 points",
            Assert.Throws<InvalidGeometryException>(() => Geometry.Parse($"LINESTRING({ring})")).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "1,000,000 are the most",
            Assert.Throws<InvalidGeometryException>(() => Geometry.Parse(new string(' ', WktParser.MaxLength + 1))).Message,
            StringComparison.Ordinal);
        string nested = string.Concat(Enumerable.Repeat("GEOMETRYCOLLECTION(", 50)) + "POINT(1 2)" + new string(')', 50);
        Assert.Contains(
            "nested", Assert.Throws<InvalidGeometryException>(() => Geometry.Parse(nested)).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(double.NaN, 0)]
    [InlineData(0, double.PositiveInfinity)]
    [InlineData(90.001, 0)]
    [InlineData(0, -180.001)]
    public void A_coordinate_outside_its_range_is_refused(double latitude, double longitude) =>
        Assert.Throws<InvalidGeometryException>(() => GeoPoint.Of(latitude, longitude));
}
