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
            BoundKernels.Spread(impacts, unit, parts);
            BoundKernels.SpreadScalar(impacts, unit, expected);
            Assert.Equal(expected, parts);

            float[] bounds = [.. parts.Select(_ => random.NextSingle())], sums = [.. bounds];
            BoundKernels.AddScaled(bounds, parts, weight);
            BoundKernels.AddScaledScalar(sums, parts, weight);
            Assert.Equal(sums, bounds);
            Assert.Equal(BoundKernels.LargestScalar(bounds), BoundKernels.Largest(bounds));
            Assert.Equal(0, BoundKernels.Largest(new float[BoundKernels.Blocks]));
        }
    }
}
