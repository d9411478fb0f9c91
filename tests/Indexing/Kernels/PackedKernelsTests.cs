using Treepie.Indexing.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Kernels;

public sealed class PackedKernelsTests
{
    [Fact]
    public void Numbers_of_every_width_are_compared_where_they_lie_as_their_scalar_twin_does()
    {
        var random = new Random(Seed.Next());
        for (int bits = 0; bits <= PackedKernels.MaxBits; bits++)
        {
            for (int round = 0; round < 20; round++)
            {
                byte[] bytes = new byte[(PackedKernels.Count * bits / 8) + (round % 3 == 0 ? 30 : round % 3 == 1 ? 7 : 3)];
                random.NextBytes(bytes);
                uint from = (uint)random.NextInt64(1L << bits),
                    span = round % 4 == 0 ? uint.MaxValue : (uint)random.NextInt64(1L << bits);
                Assert.Equal(
                    PackedKernels.BetweenScalar(bytes, bits, from, span), PackedKernels.Between(bytes, bits, from, span));
            }
        }
    }

    [Fact]
    public void Numbers_are_found_between_bounds()
    {
        const int Bits = 20;
        byte[] bytes = new byte[(PackedKernels.Count * Bits / 8) + 3];
        for (int i = 0; i < PackedKernels.Count; i++)
        {
            for (int bit = 0; bit < Bits; bit++)
                bytes[((i * Bits) + bit) >> 3] |= (byte)((i * 1_000 >> bit & 1) << (((i * Bits) + bit) & 7));
        }

        Assert.Equal(0b1110UL << 6, PackedKernels.Between(bytes, Bits, 7_000, 2_000));
        Assert.Equal(0UL, PackedKernels.Between(bytes, Bits, 7_001, 998));
        Assert.Equal(ulong.MaxValue, PackedKernels.Between(bytes, Bits, 0, 63_000));
    }
}
