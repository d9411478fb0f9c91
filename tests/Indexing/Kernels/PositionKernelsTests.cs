using Treepie.Indexing.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Kernels;

public sealed class PositionKernelsTests
{
    [Fact]
    public void Masks_by_vector_are_those_of_one_place_after_the_other()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 500; round++)
        {
            // Between the entries asked for lie others; the last may end with the bytes.
            int most = random.Next(1, 16), greatest = random.Next(3) == 0 ? 128 : random.Next(1, 12);
            int start = random.Next(100);
            var bytes = new List<byte>();
            List<int> starts = [], counts = [];
            for (int entry = random.Next(1, 60); entry > 0; entry--)
            {
                int count = random.Next(1, most + 1);
                if (random.Next(2) == 0)
                {
                    starts.Add(start + bytes.Count);
                    counts.Add(count);
                }

                for (int i = 0; i < count; i++)
                    bytes.Add((byte)random.Next(greatest));
            }

            ulong[] masks = new ulong[starts.Count], expected = new ulong[starts.Count];
            byte[] areLong = new byte[starts.Count], expectedLong = new byte[starts.Count];
            PositionKernels.Masks([.. bytes], [.. starts], start, [.. counts], masks, areLong);
            PositionKernels.MasksScalar([.. bytes], [.. starts], start, [.. counts], expected, expectedLong);
            Assert.Equal(expected, masks);
            Assert.Equal(expectedLong, areLong);
        }
    }

    [Fact]
    public void What_masks_leave_is_where_both_places_are()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 2_000; round++)
        {
            int most = random.Next(2) == 0 ? PositionKernels.MaskBits : 300;
            int distance = random.Next(4) == 0 ? random.Next(200) : random.Next(4);
            SortedSet<int> first = Places(random, most), second = Places(random, most);
            ulong[] begins = [ulong.MaxValue];
            PositionKernels.Narrow(begins, [MaskOf(first)], [IsLong(first)], 0);
            PositionKernels.Narrow(begins, [MaskOf(second)], [IsLong(second)], distance);
            int[] expected = [.. first.Where(place => second.Contains(place + distance))];
            if (IsLong(first) + IsLong(second) == 0)
                Assert.Equal(MaskOf(expected), begins[0]);
            else
                Assert.Equal(MaskOf(expected), MaskOf(expected) & begins[0]); // none is missed
        }
    }

    [Fact]
    public void What_masks_leave_of_words_that_may_be_apart_is_where_both_may_be()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 5_000; round++)
        {
            int slop = random.Next(1, PositionKernels.MaskBits),
                distance = random.Next(4) == 0 ? random.Next(200) : random.Next(4);
            SortedSet<int> first = Places(random, random.Next(2) == 0 ? 30 : 300),
                second = Places(random, random.Next(2) == 0 ? 30 : 300);
            ulong[] begins = [ulong.MaxValue];
            PositionKernels.NarrowNear(begins, [MaskOf(first)], 0, slop);
            PositionKernels.NarrowNear(begins, [MaskOf(second)], distance, slop);
            int[] expected = [.. Starts(first, 0, slop).Intersect(Starts(second, distance, slop))];
            Assert.Equal(MaskOf(expected), MaskOf(expected) & begins[0]); // none is missed

            // Bits that stand for one place each say all there is.
            if (first.Max < 30 && second.Max - distance is < 30 and > 0 && slop + distance < 30)
                Assert.Equal(MaskOf(expected), begins[0]);
        }
    }

    private static IEnumerable<int> Starts(SortedSet<int> places, int distance, int slop) =>
        places.SelectMany(place => Enumerable.Range(place - distance - slop, slop + 1));

    private static SortedSet<int> Places(Random random, int most) =>
        [.. Enumerable.Range(0, random.Next(1, 12)).Select(_ => random.Next(most))];

    private static ulong MaskOf(IEnumerable<int> places) => places.Aggregate(0UL, (mask, place) => mask | (1UL << place));

    private static byte IsLong(SortedSet<int> places) => (byte)(places.Max >= PositionKernels.MaskBits ? 1 : 0);
}
