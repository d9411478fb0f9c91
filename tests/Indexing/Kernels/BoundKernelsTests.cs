using Treepie.Indexing.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Kernels;

public sealed class BoundKernelsTests
{
    [Fact]
    public void Vector_forms_equal_their_scalar_twins()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 200; round++)
        {
            byte[] impacts = new byte[BoundKernels.Blocks];
            random.NextBytes(impacts);
            float unit = random.NextSingle() / 255, weight = random.NextSingle() * 10;
            float[] parts = new float[BoundKernels.Blocks], expected = new float[BoundKernels.Blocks];
            BoundKernels.AddSpread(impacts, unit, parts);
            BoundKernels.AddSpreadScalar(impacts, unit, expected);
            Assert.Equal(expected, parts);

            float[] bounds = [.. parts.Select(_ => random.NextSingle())], sums = [.. bounds];
            BoundKernels.AddScaled(bounds, parts, weight);
            BoundKernels.AddScaledScalar(sums, parts, weight);
            Assert.Equal(sums, bounds);
            Assert.Equal(BoundKernels.LargestScalar(bounds), BoundKernels.Largest(bounds));
            Assert.Equal(0, BoundKernels.Largest(new float[BoundKernels.Blocks]));

            BoundKernels.AddSpread(impacts, unit, bounds);
            BoundKernels.AddSpreadScalar(impacts, unit, sums);
            Assert.Equal(sums, bounds);
            Assert.Equal(BoundKernels.LargestScalar(impacts), BoundKernels.Largest(impacts));
            Assert.Equal(impacts.Max(), BoundKernels.Largest(impacts));
            Assert.Equal(impacts[0], BoundKernels.Largest(impacts.AsSpan(0, 1)));
        }
    }

    [Fact]
    public void Blocks_below_a_threshold_are_left_out_by_both_forms()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 200; round++)
        {
            float[] sums = [.. Enumerable.Range(0, BoundKernels.Blocks).Select(_ => random.NextSingle())],
                parts = [.. sums.Select(sum => sum * random.NextSingle())];
            ulong[] hits = [.. sums.Select(_ => random.Next(4) == 0 ? 0 : (ulong)random.NextInt64(1, long.MaxValue))],
                expected = [.. hits];
            float threshold = round % 3 == 0 ? sums[random.Next(sums.Length)] : random.NextSingle(),
                margin = round % 2 == 0 ? 1 : 1.01f;
            Assert.Equal(
                BoundKernels.BelowScalar(sums, parts, threshold, margin), BoundKernels.Below(sums, parts, threshold, margin));
            BoundKernels.Narrow(hits, sums, threshold, margin);
            BoundKernels.NarrowScalar(expected, sums, threshold, margin);
            Assert.Equal(expected, hits);
            Assert.Equal(BoundKernels.NotEmptyScalar(hits), BoundKernels.NotEmpty(hits));
            for (int i = 0; i < BoundKernels.Blocks; i++)
                Assert.Equal(hits[i] != 0, (BoundKernels.NotEmpty(hits) >> i & 1) != 0);
        }
    }

    [Fact]
    public void The_greatest_of_each_lane_and_those_that_reach_a_number_are_found_by_both_forms()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 500; round++)
        {
            // Few different numbers, so that many are equal.
            float[] bounds = [.. Enumerable.Range(0, random.Next(100)).Select(_ => random.Next(-1, 20) / 4f)];
            int[] best = new int[BoundKernels.Lanes], expected = new int[BoundKernels.Lanes];
            int count = BoundKernels.BestOfLanes(bounds, best);
            Assert.Equal(BoundKernels.BestOfLanesScalar(bounds, expected), count);
            Assert.Equal(expected.AsSpan(0, count), best.AsSpan(0, count));
            for (int lane = 0; lane < count; lane++)
                Assert.Equal(bounds.Where((_, i) => i % BoundKernels.Lanes == lane).Max(), bounds[best[lane]]);

            float least = random.Next(-2, 22) / 4f;
            int[] places = new int[bounds.Length];
            int[] reaching = [.. Enumerable.Range(0, bounds.Length).Where(i => bounds[i] >= least)];
            Assert.Equal(reaching, places[..BoundKernels.CopyReaching(bounds, least, places)]);
        }
    }
}
