using Treepie.Indexing.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Vectors;

public sealed class VectorKernelsTests
{
    [Fact]
    public void Vector_code_gives_what_its_scalar_twins_give_to_the_last_bit()
    {
        var random = new Random(Seed.Next());
        for (int length = 0; length < 300; length++)
        {
            float[] left = Draw(random, length), right = Draw(random, length);
            Assert.Equal(VectorKernels.DotScalar(left, right), VectorKernels.Dot(left, right));
            Assert.Equal(VectorKernels.SquaredDistanceScalar(left, right), VectorKernels.SquaredDistance(left, right));
            double plain = left.Zip(right, (x, y) => (double)x * y).Sum();
            Assert.Equal(plain, VectorKernels.Dot(left, right), 1e-4 * (1 + Math.Abs(plain)));

            sbyte[] few = Bytes(random, length), more = Bytes(random, length);
            Assert.Equal(VectorKernels.DotScalar(few, more), VectorKernels.Dot(few, more));
        }
    }

    [Fact]
    public void Products_of_the_largest_bytes_do_not_overflow()
    {
        sbyte[] low = new sbyte[4_096];
        Array.Fill(low, (sbyte)-127);
        Assert.Equal(4_096 * 127 * 127, VectorKernels.Dot(low, low));
    }

    private static float[] Draw(Random random, int length) =>
        [.. Enumerable.Range(0, length).Select(_ => (float)((random.NextDouble() * 2) - 1))];

    private static sbyte[] Bytes(Random random, int length) =>
        [.. Enumerable.Range(0, length).Select(_ => (sbyte)random.Next(-127, 128))];
}
