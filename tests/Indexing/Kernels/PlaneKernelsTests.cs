using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Storage.Memory;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Kernels;

public sealed class PlaneKernelsTests
{
    [Fact]
    public void Entries_are_counted_by_their_numbers_as_one_by_one()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 2_000; round++)
        {
            int bits = random.Next(1, PlaneKernels.MaxBits + 1),
                words = random.Next(1, PlaneKernels.MaxWords + 1),
                most = random.Next((1 << bits) >> 1, 1 << bits);
            ulong[] entries = new ulong[words], planes = new ulong[words * bits];
            long[] expected = new long[most + 1];
            for (int entry = 0; entry < words * 64; entry++)
            {
                // at times one that is more than there are
                int number = random.Next(random.Next(1, most + 1) + (round % 7 == 0 ? 0 : 1));
                for (int bit = 0; bit < bits; bit++)
                    planes[(bit * words) + (entry >> 6)] |= (ulong)(number >> bit & 1) << entry;
                bool isAsked = random.Next(round % 5 + 1) == 0;
                entries[entry >> 6] |= (isAsked ? 1UL : 0) << entry;
                if (isAsked && number <= most)
                    expected[number]++;
            }

            // They lie anywhere, and are added to what is there.
            byte[] bytes = [.. new byte[round % 9], .. MemoryMarshal.AsBytes(planes.AsSpan())];
            long[] counts = new long[most + 1], scalar = new long[most + 1];
            counts[0] = 1L << 40;
            PlaneKernels.Count(entries, bytes.AsSpan(round % 9), bits, counts);
            PlaneKernels.CountScalar(entries, bytes.AsSpan(round % 9), bits, scalar);
            counts[0] -= 1L << 40;
            Assert.Equal(expected, counts);
            Assert.Equal(expected, scalar);
        }
    }

    [Fact]
    public void Blocks_are_counted_together_as_one_by_one()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 300; round++)
        {
            int blocks = random.Next(1, PlaneKernels.MaxBlocks + 1),
                bits = random.Next(1, PlaneKernels.MaxBits + 1),
                most = random.Next((1 << bits) >> 1, 1 << bits);
            ulong[] entries = new ulong[blocks * PlaneKernels.MaxWords],
                planes = GC.AllocateArray<ulong>(blocks * PlaneKernels.MaxWords * bits, pinned: true);
            bool isFull = round % 10 == 0; // every bit of one number
            for (int i = 0; i < entries.Length; i++)
                entries[i] = isFull ? ulong.MaxValue : (ulong)random.NextInt64(long.MinValue, long.MaxValue);
            for (int i = 0; i < planes.Length; i++)
                planes[i] = isFull
                    ? (ulong)(most >> (i / PlaneKernels.MaxWords % bits) & 1) * ulong.MaxValue
                    : (ulong)random.NextInt64(long.MinValue, long.MaxValue);

            var held = new HeldBytes[blocks];
            long[] expected = new long[most + 1], counts = new long[most + 1];
            expected[most] = counts[most] = 1L << 40;
            for (int i = 0; i < blocks; i++)
            {
                ReadOnlySpan<byte> mine = MemoryMarshal.AsBytes(
                    planes.AsSpan(i * PlaneKernels.MaxWords * bits, PlaneKernels.MaxWords * bits));
                held[i] = new HeldBytes(mine);
                PlaneKernels.CountScalar(entries.AsSpan(i * PlaneKernels.MaxWords, PlaneKernels.MaxWords), mine, bits, expected);
            }

            PlaneKernels.Count(entries, held, bits, counts);
            Assert.True(expected.SequenceEqual(counts), $"seed {seed}, round {round}");
        }
    }

    [Fact]
    public void Bitmaps_that_are_too_short_are_refused() =>
        Assert.Throws<ArgumentOutOfRangeException>(() => PlaneKernels.Count(new ulong[8], new byte[63], 1, new long[2]));
}
