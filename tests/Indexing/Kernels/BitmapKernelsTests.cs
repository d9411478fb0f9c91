using System.Numerics;
using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Kernels;

public sealed class BitmapKernelsTests
{
    [Fact]
    public void A_full_bitmap_is_counted_whole()
    {
        ulong[] bits = [.. Enumerable.Repeat(ulong.MaxValue, BitmapKernels.Words)];
        Assert.Equal(BitmapKernels.Words * 64, BitmapKernels.Count(bits));
        Assert.Equal(BitmapKernels.Words * 64, BitmapKernels.CountBoth(bits, MemoryMarshal.AsBytes<ulong>(bits)));
    }

    [Fact]
    public void Vector_forms_equal_their_scalar_twins()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 200; round++)
        {
            Compare<AndOperation>(random);
            Compare<OrOperation>(random);
            Compare<AndNotOperation>(random);
        }
    }

    [Fact]
    public void Count_decode_and_rank_agree_with_the_bits()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 200; round++)
        {
            ulong[] bits = Bits(random, round);
            List<int> expected = [.. Enumerable.Range(0, 4096).Where(i => (bits[i / 64] >> (i % 64) & 1) != 0)];
            ushort[] decoded = new ushort[4096];
            int count = BitmapKernels.Decode(bits, decoded);
            Assert.Equal(expected, decoded.AsSpan(0, count).ToArray().Select(offset => (int)offset));
            Assert.Equal(expected.Count, BitmapKernels.Count(bits));
            Assert.Equal(expected.Count, BitmapKernels.CountScalar(bits));
            Assert.Equal(expected.Count == 0, BitmapKernels.IsEmpty(bits));
            ulong[] others = Bits(random, round + 1);
            ReadOnlySpan<byte> bytes = MemoryMarshal.AsBytes<ulong>(others);
            int both = expected.Count(offset => (others[offset / 64] >> (offset % 64) & 1) != 0);
            Assert.Equal(both, BitmapKernels.CountBoth(bits, bytes));
            Assert.Equal(both, BitmapKernels.CountBothScalar(bits, bytes));
            Assert.Equal(both, BitmapKernels.CountIn(others, decoded.AsSpan(0, count)));
            int probe = random.Next(4096);
            Assert.Equal(expected.Count(offset => offset < probe), BitmapKernels.Rank(bits, probe));
        }
    }

    [Fact]
    public void Lower_bound_equals_its_scalar_twin()
    {
        var random = new Random(Seed.Next());
        for (int length = 0; length < 128; length++)
        {
            ushort[] offsets = [.. Enumerable.Range(0, 4096).OrderBy(_ => random.Next()).Take(length).Order().Select(i => (ushort)i)];
            for (int round = 0; round < 50; round++)
            {
                ushort value = (ushort)(random.Next(2) == 0 && length > 0 ? offsets[random.Next(length)] : random.Next(4097));
                int expected = offsets.Count(offset => offset < value);
                Assert.Equal(expected, OffsetKernels.LowerBound(offsets, value));
                Assert.Equal(expected, OffsetKernels.LowerBoundScalar(offsets, value));
            }
        }
    }

    private static void Compare<TOperation>(Random random)
        where TOperation : struct, IBitOperation
    {
        ulong[] left = Bits(random, random.Next(3));
        ulong[] twin = [.. left];

        // One byte off, as bitmaps lie in pages.
        byte[] page = new byte[BitmapKernels.Bytes + 1];
        MemoryMarshal.AsBytes(Bits(random, random.Next(3)).AsSpan()).CopyTo(page.AsSpan(1));
        BitmapKernels.Combine<TOperation>(left, page.AsSpan(1));
        BitmapKernels.CombineScalar<TOperation>(twin, page.AsSpan(1));
        Assert.Equal(twin, left);
    }

    private static ulong[] Bits(Random random, int density)
    {
        ulong[] bits = new ulong[BitmapKernels.Words];
        random.NextBytes(MemoryMarshal.AsBytes(bits.AsSpan()));
        if (density % 3 == 1)
        {
            for (int i = 0; i < bits.Length; i++)
                bits[i] &= BitOperations.RotateLeft(bits[i], 7) & BitOperations.RotateLeft(bits[(i + 1) % 64], 19);
        }
        else if (density % 3 == 2)
        {
            Array.Clear(bits);
        }

        return bits;
    }
}
