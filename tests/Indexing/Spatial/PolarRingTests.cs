using System.Globalization;
using Treepie.Indexing.Spatial;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Spatial;

/// <summary>
/// Rings around a pole, which start anywhere and go either way around: a place is inside if it is nearer to the pole than the
/// edge on its meridian.
/// </summary>
public sealed class PolarRingTests
{
    [Fact]
    public void A_ring_around_a_pole_holds_what_lies_behind_its_edges_however_it_is_kept()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 150; round++)
        {
            Ring ring = Draw(random);
            var shape = Geometry.Parse(ring.Wkt, cancellationToken: TestContext.Current.CancellationToken);
            var written = Geometry.Parse(WktWriter.Write(shape), cancellationToken: TestContext.Current.CancellationToken);
            ReadOnlySpan<byte> record = GeometryRecord.Encode(shape);
            Geometry stored = GeometryRecord.Read(ref record, out _) ?? throw new InvalidOperationException("A ring is a shape.");
            List<CellRange> ranges = CellCover.Ranges(shape, TestContext.Current.CancellationToken);
            for (int i = 0; i < 60; i++)
            {
                GridPoint point = GridPoint.Of(i % 2 == 0 ? RandomShapes.Place(random) : ring.Near(random));
                double depth = ring.DepthOf(point.Point);
                if (Math.Abs(depth) < 1e-6)
                    continue; // too near for two formulas to agree
                var place = new Vertex(point.Longitude, point.Latitude);
                string what = $"seed {seed}: {point.Point} in {ring.Wkt}";
                Assert.True(depth > 0 == shape.Contains(place), what);
                Assert.True(depth > 0 == written.Contains(place), what);
                Assert.True(depth > 0 == stored.Contains(place), what);
                Assert.True(depth > 0 == GeometryRelations.Within(Geometry.Point(point.Point), shape), what);
                int range = ranges.FindIndex(one => point.Cell >= one.First && point.Cell <= one.Last);
                Assert.True(range >= 0 ? depth > 0 || !ranges[range].IsInside : depth < 0, what);
            }
        }
    }

    private static Ring Draw(Random random)
    {
        int sign = random.Next(2) == 0 ? 1 : -1, count = random.Next(4, 12);
        double start = random.Next(4) switch { 0 => -180, 1 => 180, _ => (random.NextDouble() * 360) - 180 };
        var corners = new (double X, double Y)[count];
        for (int i = 0; i < count; i++)
        {
            // Longitudes at least a little apart, and no two more than half a turn.
            double x = start + (360 * (i + (i == 0 ? 0 : 0.8 * random.NextDouble())) / count);
            corners[i] = (Math.Round(x, 6), sign * Math.Round(20 + (65 * random.NextDouble()), 6));
        }

        return new Ring(corners, sign, random.Next(2) == 0);
    }

    /// <summary>Corners from some longitude on eastwards, all on one side of the equator.</summary>
    private sealed record Ring((double X, double Y)[] Corners, int Sign, bool IsWestwards)
    {
        public string Wkt
        {
            get
            {
                IEnumerable<(double X, double Y)> chain = Corners.Append(Corners[0]);
                return "POLYGON((" + string.Join(", ", (IsWestwards ? chain.Reverse() : chain).Select(static corner =>
                    string.Create(CultureInfo.InvariantCulture, $"{RandomShapes.Turn(corner.X):R} {corner.Y:R}"))) + "))";
            }
        }

        /// <summary>How many degrees a place is behind the edge on its meridian, seen from the equator.</summary>
        public double DepthOf(GeoPoint point)
        {
            double x = point.Longitude;
            while (x < Corners[0].X)
                x += 360;
            while (x >= Corners[0].X + 360)
                x -= 360;
            int next = Array.FindIndex(Corners, corner => corner.X > x);
            (double X, double Y) from = Corners[next < 0 ? ^1 : next - 1],
                to = next < 0 ? (Corners[0].X + 360, Corners[0].Y) : Corners[next];
            double edge = from.Y + ((to.Y - from.Y) * (x - from.X) / (to.X - from.X));
            return Sign * (point.Latitude - edge);
        }

        public GeoPoint Near(Random random)
        {
            (double x, double y) = Corners[random.Next(Corners.Length)];
            return new GeoPoint(
                Math.Clamp(y + ((random.NextDouble() - 0.5) * 10), -90, 90),
                RandomShapes.Turn(RandomShapes.Turn(x + ((random.NextDouble() - 0.5) * 40))));
        }
    }
}
