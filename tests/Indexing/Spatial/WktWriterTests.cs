using Treepie.Indexing.Spatial;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Spatial;

/// <summary>What is written as WKT is read as the same shape.</summary>
public sealed class WktWriterTests
{
    [Theory]
    [InlineData("POINT (4.154 49.255)")]
    [InlineData("LINESTRING (179 1, -179 2, -178.5 0)")]
    [InlineData("POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 1 2, 2 2, 1 1))")]
    [InlineData("POLYGON ((0 60, 90 60, 180 60, -90 60, 0 60))")]
    [InlineData("POLYGON ((-170 -60, -50 -70, 70 -60, -170 -60))")]
    [InlineData("POLYGON ((-180 60, 180 60, 180 -90, -180 -90, -180 60))")]
    [InlineData("POLYGON ((-180 60, 180 60, 180 90, -180 90, -180 60))")]
    [InlineData("POLYGON ((-180 60, 0 60, 180 60, 180 90, -180 90, -180 60))")]
    [InlineData("CIRCLE (1 2 d=0.00001)")]
    [InlineData("POINT (12.345678901234567 -0.1234567890123456)")]
    [InlineData("GEOMETRYCOLLECTION (POINT (1 2), POINT (3 4), LINESTRING (0 0, 1 1), CIRCLE (5 6 d=7))")]
    public void What_is_in_order_comes_back_as_it_was(string wkt) => Assert.Equal(wkt, WktWriter.Write(Geometry.Parse(wkt)));

    [Theory]
    [InlineData("POINT (1.2345678901234567e-6 -5e-9)", "POINT (0.0000012345678901234567 -0.000000005)")]
    public void Small_numbers_are_written_without_an_exponent(string wkt, string expected)
    {
        string written = WktWriter.Write(Geometry.Parse(wkt));
        Assert.StartsWith(expected[..24], written, StringComparison.Ordinal);
        Assert.Equal(written, WktWriter.Write(Geometry.Parse(written)));
    }

    [Fact]
    public void Random_shapes_have_the_same_places_in_them()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 300; round++)
        {
            RandomShapes.Star star = RandomShapes.DrawStar(random);
            var shape = Geometry.Parse(star.Wkt);
            string written = WktWriter.Write(shape);
            var again = Geometry.Parse(written);
            for (int i = 0; i < 20; i++)
            {
                GeoPoint place = star.Near(random);
                bool expected = shape.Contains(new Vertex(place.Longitude, place.Latitude));
                Assert.True(
                    expected == again.Contains(new Vertex(place.Longitude, place.Latitude)) || star.Winding(place) < 0,
                    $"seed {seed}: {star.Wkt} was written as {written}, which says otherwise of {place}");
            }
        }
    }
}
