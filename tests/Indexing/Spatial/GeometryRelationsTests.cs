using System.Globalization;
using Treepie.Indexing.Spatial;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Spatial;

public sealed class GeometryRelationsTests
{
    private const string Square = "POLYGON((0 0, 10 0, 10 10, 0 10, 0 0))";
    private const string Ring = "POLYGON((0 0, 10 0, 10 10, 0 10, 0 0), (4 4, 6 4, 6 6, 4 6, 4 4))";
    private const string Corner = "POLYGON((0 0, 10 0, 10 10, 8 10, 8 2, 0 2, 0 0))";

    [Theory]
    [InlineData("POINT(5 5)", Square, true, true)]
    [InlineData("POINT(10 5)", Square, true, true)]
    [InlineData("POINT(10.001 5)", Square, false, false)]
    [InlineData("POINT(5 5)", Ring, false, false)]
    [InlineData("POINT(4 5)", Ring, true, true)]
    [InlineData(Square, Square, true, true)]
    [InlineData(Ring, Square, true, true)]
    [InlineData(Square, Ring, false, true)]
    [InlineData("POLYGON((4.5 4.5, 5 4.5, 5 5, 4.5 4.5))", Ring, false, false)]
    [InlineData("LINESTRING(1 1, 9 1)", Corner, true, true)]
    [InlineData("LINESTRING(1 1, 9 9)", Corner, false, true)]
    [InlineData("LINESTRING(0 2, 8 10)", Corner, false, true)]
    [InlineData("LINESTRING(0 2, 8 2)", Corner, true, true)]
    [InlineData("LINESTRING(1 3, 7 9)", Corner, false, false)]
    [InlineData("LINESTRING(0 0, 20 20)", "LINESTRING(5 0, 5 10)", false, true)]
    [InlineData("LINESTRING(2 2, 3 3)", "LINESTRING(0 0, 20 20)", true, true)]
    [InlineData("CIRCLE(5 5 d=10)", Square, true, true)]
    [InlineData("CIRCLE(5 5 d=600)", Square, false, true)]
    [InlineData("CIRCLE(11 5 d=100)", Square, false, false)]
    [InlineData("CIRCLE(11 5 d=120)", Square, false, true)]
    [InlineData("CIRCLE(5 5 d=10)", Ring, false, false)]
    [InlineData(Square, "CIRCLE(5 5 d=790)", true, true)]
    [InlineData(Square, "CIRCLE(5 5 d=780)", false, true)]
    [InlineData("CIRCLE(5 5 d=10)", "CIRCLE(5 5 d=11)", true, true)]
    [InlineData("CIRCLE(5 5 d=10)", "CIRCLE(5.1 5 d=11)", false, true)]
    [InlineData("CIRCLE(5 5 d=10)", "CIRCLE(7 5 d=11)", false, false)]
    [InlineData("POLYGON((179 0, -179 0, -179 1, 179 1, 179 0))", "ENVELOPE(170, -170, 5, -5)", true, true)]
    [InlineData("POINT(-179.5 0.5)", "POLYGON((179 0, -179 0, -179 1, 179 1, 179 0))", true, true)]
    [InlineData("POINT(0 0.5)", "POLYGON((179 0, -179 0, -179 1, 179 1, 179 0))", false, false)]
    [InlineData("POINT(180 0.5)", "POLYGON((179 0, -179 0, -179 1, 179 1, 179 0))", true, true)]
    [InlineData("LINESTRING(175 0, -175 0)", "LINESTRING(180 -1, 180 1)", false, true)]
    [InlineData("POINT(45 89)", "POLYGON((0 60, 90 60, 180 60, -90 60, 0 60))", true, true)]
    [InlineData("POINT(45 59)", "POLYGON((0 60, 90 60, 180 60, -90 60, 0 60))", false, false)]
    [InlineData("POINT(10 -80)", "POLYGON((0 -60, 90 -60, 180 -60, -90 -60, 0 -60))", true, true)]
    [InlineData("POINT(12 34)", "POLYGON((-180 -90, 180 -90, 180 90, -180 90, -180 -90))", true, true)]
    [InlineData("POINT(120 89.9)", "CIRCLE(-60 89.9 d=30)", true, true)]
    [InlineData("MULTIPOLYGON(((1 1, 2 1, 2 2, 1 1)), ((7 7, 8 7, 8 8, 7 7)))", Square, true, true)]
    [InlineData("MULTIPOLYGON(((1 1, 2 1, 2 2, 1 1)), ((17 7, 18 7, 18 8, 17 7)))", Square, false, true)]
    public void Chosen_shapes_lie_as_a_person_sees_them(string inner, string outer, bool within, bool intersects)
    {
        Geometry left = Geometry.Parse(inner), right = Geometry.Parse(outer);
        Assert.Equal(within, GeometryRelations.Holds(SpatialRelation.Within, left, right));
        Assert.Equal(within, GeometryRelations.Holds(SpatialRelation.Contains, right, left));
        Assert.Equal(intersects, GeometryRelations.Intersects(left, right));
        Assert.Equal(intersects, GeometryRelations.Intersects(right, left));
        Assert.Equal(!intersects, GeometryRelations.Holds(SpatialRelation.Disjoint, left, right));
    }

    [Fact]
    public void Random_boxes_lie_as_their_sides_say()
    {
        var random = new Random(Seed.Next());
        for (int i = 0; i < 3_000; i++)
        {
            double centre = random.Next(-200, 200);
            (double West, double East, double South, double North) first = Box(random, centre), second = Box(random, centre);
            Geometry left = Envelope(first), right = Envelope(second);
            bool within = first.West >= second.West
                && first.East <= second.East
                && first.South >= second.South
                && first.North <= second.North;
            bool intersects = first.West <= second.East
                && second.West <= first.East
                && first.South <= second.North
                && second.South <= first.North;
            Assert.True(within == GeometryRelations.Within(left, right), $"{first} within {second}: {within}");
            Assert.True(intersects == GeometryRelations.Intersects(left, right), $"{first} meets {second}: {intersects}");
        }
    }

    [Fact]
    public void Random_polygons_hold_the_points_that_go_around_them_once()
    {
        var random = new Random(Seed.Next());
        for (int i = 0; i < 300; i++)
        {
            RandomShapes.Star star = RandomShapes.DrawStar(random);
            var polygon = Geometry.Parse(star.Wkt);
            for (int j = 0; j < 50; j++)
            {
                GeoPoint point = star.Near(random);
                int winding = star.Winding(point);
                Assert.True(
                    winding < 0 || (winding == 1) == polygon.Contains(new Vertex(point.Longitude, point.Latitude)),
                    $"{point} in {star.Wkt}");
            }
        }
    }

    private static (double West, double East, double South, double North) Box(Random random, double centre)
    {
        double west = centre + random.Next(-12, 10), south = random.Next(-80, 70);
        return (west, west + random.Next(1, 20), south, south + random.Next(1, 20));
    }

    private static Geometry Envelope((double West, double East, double South, double North) box) =>
        Geometry.Parse(
            string.Create(
                CultureInfo.InvariantCulture, $"ENVELOPE({Turn(box.West)}, {Turn(box.East)}, {box.North}, {box.South})"));

    private static double Turn(double x) => x > 180 ? x - 360 : x < -180 ? x + 360 : x;
}
