using System.Globalization;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Spatial;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Spatial;

public sealed class CellCoverTests
{
    [Fact]
    public void Ranges_hold_all_of_a_region_and_inner_ranges_nothing_else()
    {
        var random = new Random(Seed.Next());
        for (int i = 0; i < 150; i++)
        {
            GeoPoint centre = RandomShapes.Place(random);
            double radius = Math.Pow(10, (random.NextDouble() * 7) - 2.5);
            Geometry region = random.Next(3) == 0
                ? Geometry.Parse(RandomShapes.DrawStar(random).Wkt)
                : Geometry.Around(centre, radius);
            List<CellRange> ranges = CellCover.Ranges(region);
            Assert.InRange(ranges.Count, 1, CellCover.MaxRanges);
            Assert.InRange(CellCover.Squares(region).Count, 1, CellCover.MaxSquares);
            for (int j = 1; j < ranges.Count; j++)
                Assert.True(ranges[j].First > ranges[j - 1].Last);

            for (int j = 0; j < 60; j++)
            {
                GridPoint point = GridPoint.Of(j % 2 == 0 ? RandomShapes.Place(random) : Near(random, region));
                bool isInside = region.Contains(new Vertex(point.Longitude, point.Latitude));
                int range = ranges.FindIndex(r => point.Cell >= r.First && point.Cell <= r.Last);
                Assert.True(range >= 0 || !isInside, $"{point.Point} is in the region and in no range");
                Assert.True(
                    range < 0 || !ranges[range].IsInside || isInside,
                    $"{point.Point} is in an inner range and not in the region");
            }

            CheckRanges(random, region, ranges);
        }
    }

    [Fact]
    public void Ranges_hold_points_on_a_border_that_are_kept_in_the_square_behind_it()
    {
        const uint SquareCells = 16;
        var random = new Random(Seed.Next());
        for (int found = 0; found < 50;)
        {
            // Its step is the first of a square, a little north of where it is; the region ends there.
            double longitude = Math.Round(random.NextDouble() * 100, 7), north = Math.Round(random.NextDouble() * 80, 7);
            GridPoint point = GridPoint.Of(new GeoPoint(north, longitude));
            if (point.Y % SquareCells != 0 || (point.Y * GridPoint.DegreesPerY) - 90 <= north)
                continue;
            found++;
            string south = (north - 1e-6).ToString("F7", CultureInfo.InvariantCulture),
                east = (longitude + 1e-6).ToString("F7", CultureInfo.InvariantCulture);
            Geometry region = Geometry.Parse(
                string.Create(
                    CultureInfo.InvariantCulture,
                    $"POLYGON(({longitude:F7} {south}, {east} {south}, {east} {north:F7}, {longitude:F7} {north:F7}, "
                        + $"{longitude:F7} {south}))"));
            Assert.True(region.Contains(new Vertex(point.Longitude, point.Latitude)));
            Assert.Contains(CellCover.Ranges(region), range => point.Cell >= range.First && point.Cell <= range.Last);
        }
    }

    [Fact]
    public void Distances_of_a_box_bound_those_of_its_points()
    {
        var random = new Random(Seed.Next());
        for (int i = 0; i < 500; i++)
        {
            var centre = new Circle(RandomShapes.Place(random), 0);
            CellSquare square = new CellSquare(GridPoint.Of(RandomShapes.Place(random)).Cell, HilbertCurve.Levels).Ancestor(
                random.Next(1, 20));
            (double nearest, double farthest) = centre.Range(square.Box);
            for (int j = 0; j < 20; j++)
            {
                GridPoint inside = HilbertCurve.Decode(
                    square.First + (ulong)(random.NextDouble() * (square.Last - square.First)));
                double haversine = Earth.Haversine(centre.Centre, inside.Point);
                Assert.True(
                    haversine >= nearest * (1 - 1e-9) - 1e-18 && haversine <= farthest * (1 + 1e-9) + 1e-18,
                    $"{centre.Centre} {square.Box} {inside.Point}");
            }
        }
    }

    [Fact]
    public void Vector_code_finds_what_its_scalar_twins_find()
    {
        var random = new Random(Seed.Next());
        for (int i = 0; i < 2_000; i++)
        {
            int count = random.Next(0, 65);
            uint[] xs = new uint[count], ys = new uint[count];
            GeoPoint centre = RandomShapes.Place(random);
            for (int j = 0; j < count; j++)
                (xs[j], ys[j]) = GridPoint.Of(RandomShapes.Place(random));
            uint minX = (uint)random.NextInt64(1L << 32),
                width = (uint)random.NextInt64(1L << 32),
                minY = (uint)random.NextInt64(1L << 32),
                height = (uint)random.NextInt64(1L << 32);
            Assert.Equal(
                PointKernels.InBoxScalar(xs, ys, minX, width, minY, height),
                PointKernels.InBox(xs, ys, minX, width, minY, height));

            // A limit that is exactly the distance of one of them, too.
            var from = new CentreOnGrid(centre.Latitude * Earth.Radians, centre.Longitude * Earth.Radians);
            double limit = count > 0 && i % 2 == 0 ? from.Haversine(xs[count / 2], ys[count / 2]) : random.NextDouble();
            ulong asked = (ulong)random.NextInt64() & (count == 64 ? ulong.MaxValue : (1UL << count) - 1);
            Assert.Equal(PointKernels.NearScalar(xs, ys, asked, from, limit), PointKernels.Near(xs, ys, asked, from, limit));
        }
    }

    private static void CheckRanges(Random random, Geometry region, List<CellRange> ranges)
    {
        foreach (CellRange range in ranges.Where(range => range.IsInside))
        {
            GridPoint point = HilbertCurve.Decode(range.First + (ulong)(random.NextDouble() * (range.Last - range.First)));
            Assert.True(
                region.Contains(new Vertex(point.Longitude, point.Latitude)),
                $"{point.Point} is in an inner range and not in the region");
        }
    }

    private static GeoPoint Near(Random random, Geometry region)
    {
        GeoBox box = region.Bounds;
        double x = box.MinX + (random.NextDouble() * (box.MaxX - box.MinX));
        return new GeoPoint(Math.Clamp(box.MinY + (random.NextDouble() * (box.MaxY - box.MinY)), -90, 90), RandomShapes.Turn(x));
    }
}
