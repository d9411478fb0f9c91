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
    public void Bits_put_in_places_and_bytes_and_halves_compared_are_as_one_by_one()
    {
        var random = new Random(Seed.Next());
        byte[] values = new byte[BitmapKernels.Words];
        for (int round = 0; round < 500; round++)
        {
            ulong bits = (ulong)random.NextInt64(long.MinValue, long.MaxValue),
                places = (ulong)random.NextInt64(long.MinValue, long.MaxValue);
            Assert.Equal(BitmapKernels.DepositScalar(bits, places), BitmapKernels.Deposit(bits, places));
            int next = 0;
            for (int i = 0; i < 64; i++)
                Assert.Equal((places >> i & 1) != 0 ? bits >> next++ & 1 : 0, BitmapKernels.Deposit(bits, places) >> i & 1);

            ulong above = BitmapKernels.HalvesAboveOne(bits);
            for (int i = 0; i < 16; i++)
                Assert.Equal((bits >> (4 * i) & 15) > 1, (above >> i & 1) != 0);
            Assert.Equal(0UL, above >> 16);

            random.NextBytes(values);
            byte limit = round % 5 == 0 ? byte.MaxValue : (byte)random.Next(256);
            Assert.Equal(BitmapKernels.NotAboveScalar(values, limit), BitmapKernels.NotAbove(values, limit));
        }
    }

    [Fact]
    public void Lists_are_united_and_narrowed_as_sets_are()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 1_000; round++)
        {
            int range = round % 3 == 0 ? 40 : 4_096;
            SortedSet<ushort> left = Some(random, range), right = Some(random, range);
            ushort[] offsets = new ushort[left.Count + right.Count];
            left.CopyTo(offsets);
            int count = OffsetKernels.Unite(offsets, left.Count, [.. right]);
            Assert.Equal(left.Union(right).Order(), offsets[..count]);

            float[] bounds = [.. Enumerable.Range(0, 64).Select(_ => random.NextSingle())];
            int kept = OffsetKernels.Narrow(offsets.AsSpan(0, count), bounds, 0.5f, 1.01f);
            Assert.Equal(left.Union(right).Where(offset => bounds[offset / 64] * 1.01f >= 0.5f).Order(), offsets[..kept]);
        }
    }

    [Fact]
    public void Of_a_padded_list_only_its_own_bits_are_set()
    {
        var random = new Random(Seed.Next());
        for (int count = 1; count < 128; count++)
        {
            ulong[] bits = Bits(random, count % 3), expected = [.. bits];
            ushort[] offsets =
                [.. Enumerable.Range(0, 4_096).OrderBy(_ => random.Next()).Take(count).Order().Select(offset => (ushort)offset)];
            ushort[] padding =
                [.. Enumerable.Range(0, BitmapKernels.SetPadding).Select(_ => (ushort)random.Next(ushort.MaxValue + 1))];
            BitmapKernels.Set(expected, offsets);
            BitmapKernels.SetPadded(bits, [.. offsets, .. padding], count);
            Assert.Equal(expected, bits);
        }
    }

    private static SortedSet<ushort> Some(Random random, int range) =>
        [.. Enumerable.Range(0, random.Next(30)).Select(_ => (ushort)random.Next(range))];

    [Fact]
    public void Lower_bound_equals_its_scalar_twin()
    {
        var random = new Random(Seed.Next());
        for (int length = 0; length < 128; length++)
        {
            ushort[] offsets =
                [.. Enumerable.Range(0, 4096).OrderBy(_ => random.Next()).Take(length).Order().Select(i => (ushort)i)];
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
