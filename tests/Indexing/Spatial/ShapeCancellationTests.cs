using System.Globalization;
using Treepie.Indexing.Spatial;

namespace Treepie.Indexing.Tests.Spatial;

/// <summary>Work that grows with the corners of shapes can be cancelled inside one shape.</summary>
public sealed class ShapeCancellationTests
{
    private static readonly CancellationToken _cancelled = new(canceled: true);

    [Fact]
    public void Reading_a_ring_can_be_cancelled() =>
        Assert.Throws<OperationCanceledException>(() => Geometry.Parse(Star(1_000), 1, _cancelled));

    [Fact]
    public void Covering_and_comparing_can_be_cancelled()
    {
        Geometry star = Geometry.Parse(Star(100), 1, TestContext.Current.CancellationToken),
            circle = Geometry.Around(GeoPoint.Of(0, 0), 100);
        Assert.Throws<OperationCanceledException>(() => CellCover.Ranges(star, _cancelled));
        foreach (SpatialRelation relation in Enum.GetValues<SpatialRelation>())
        {
            Assert.Throws<OperationCanceledException>(() => GeometryRelations.Holds(relation, star, star, _cancelled));
            Assert.Throws<OperationCanceledException>(() => GeometryRelations.Holds(relation, circle, star, _cancelled));
        }
    }

    [Theory]
    [InlineData("POINT(1 2)", 1)]
    [InlineData("MULTIPOINT(1 2, 3 4)", 2)]
    [InlineData("LINESTRING(1 2, 3 4, 5 5)", 3)]
    [InlineData("POLYGON((0 0, 9 0, 9 9, 0 0), (5 1, 6 1, 6 2, 5 1))", 8)]
    [InlineData("GEOMETRYCOLLECTION(POINT(1 2), CIRCLE(1 2 d=3))", 2)]
    public void Corners_are_counted(string wkt, int corners) => Assert.Equal(corners, Geometry.Parse(wkt).CornerCount);

    private static string Star(int corners)
    {
        IEnumerable<string> places = Enumerable.Range(0, corners + 1).Select(i =>
        {
            (double sine, double cosine) = Math.SinCos(2 * Math.PI * (i % corners) / corners);
            double radius = i % corners % 2 == 0 ? 80 : 1;
            return string.Create(CultureInfo.InvariantCulture, $"{radius * cosine:R} {radius * sine:R}");
        });
        return $"POLYGON(({string.Join(", ", places)}))";
    }
}
