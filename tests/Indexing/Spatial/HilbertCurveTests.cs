using Treepie.Indexing.Spatial;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Spatial;

public sealed class HilbertCurveTests
{
    [Fact]
    public void A_place_on_the_curve_leads_back_to_its_cell()
    {
        var random = new Random(Seed.Next());
        for (int i = 0; i < 10_000; i++)
        {
            var cell = new GridPoint((uint)random.NextInt64(1L << 32), (uint)random.NextInt64(1L << 32));
            Assert.Equal(cell, HilbertCurve.Decode(cell.Cell));
        }
    }

    [Fact]
    public void One_step_on_the_curve_is_one_step_on_the_grid()
    {
        var random = new Random(Seed.Next());
        for (int i = 0; i < 10_000; i++)
        {
            ulong place = (ulong)random.NextInt64() << 1;
            GridPoint here = HilbertCurve.Decode(place), next = HilbertCurve.Decode(place + 1);
            Assert.Equal(1, Math.Abs((long)here.X - next.X) + Math.Abs((long)here.Y - next.Y));
        }
    }

    [Fact]
    public void Cells_that_share_their_first_bits_are_a_square()
    {
        var random = new Random(Seed.Next());
        for (int i = 0; i < 2_000; i++)
        {
            CellSquare square = new CellSquare((ulong)random.NextInt64() << 1, HilbertCurve.Levels).Ancestor(
                random.Next(HilbertCurve.Levels));
            GeoBox box = square.Reach;
            ulong inside = square.First + (ulong)(random.NextDouble() * (square.Last - square.First));
            GridPoint point = HilbertCurve.Decode(inside);
            Assert.True(box.Contains(new Vertex(point.Longitude, point.Latitude)), $"{square} {box} {point}");
            Assert.Equal(square.Last, Enumerable.Range(0, 4).Select(square.Quarter).Max(quarter => quarter.Last));
            Assert.Equal(square, square.Quarter(random.Next(4)).Ancestor(square.Level));
        }
    }

    [Fact]
    public void A_place_is_kept_to_a_step_of_the_grid_and_exactly_with_up_to_seven_decimals()
    {
        var random = new Random(Seed.Next());
        for (int i = 0; i < 10_000; i++)
        {
            var point = GeoPoint.Of((random.NextDouble() * 180) - 90, (random.NextDouble() * 360) - 180);
            Assert.True(Earth.DistanceKm(point, GridPoint.Of(point).Point) < 10.6e-6, point.ToString());
            int decimals = random.Next(8);
            var said = GeoPoint.Of(Math.Round(point.Latitude, decimals), Math.Round(point.Longitude, decimals));
            Assert.Equal(said.Longitude == 180 ? said with { Longitude = -180 } : said, GridPoint.Of(said).Point);
        }

        Assert.Equal(new GeoPoint(0, 0), GridPoint.Of(new GeoPoint(0, 0)).Point);
        Assert.Equal(GridPoint.Of(new GeoPoint(10, -180)), GridPoint.Of(new GeoPoint(10, 180)));
        Assert.Equal(90, GridPoint.Of(new GeoPoint(90, 5)).Latitude);
        Assert.Equal(-90, GridPoint.Of(new GeoPoint(-90, 5)).Latitude);
    }
}
