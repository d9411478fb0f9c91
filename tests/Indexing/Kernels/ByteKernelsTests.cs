using Treepie.Indexing.Kernels;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Kernels;

public sealed class ByteKernelsTests
{
    [Fact]
    public void Bytes_are_compared_with_ranges_as_their_scalar_twin_does()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 2_000; round++)
        {
            int count = random.Next(9);
            (byte[] bytes, ByteRange outer, ByteRange inner) = Draw(random, round, count);
            ulong[] words = new ulong[count],
                edges = new ulong[count],
                expected = new ulong[count],
                expectedEdges = new ulong[count];
            for (int i = 0; i < count; i++)
                expected[i] = words[i] = (ulong)random.NextInt64(long.MinValue, long.MaxValue);
            bool any = ByteKernels.BetweenScalar(bytes, outer, inner, expected, expectedEdges);
            Assert.Equal(any, ByteKernels.Between(bytes, outer, inner, words, edges));
            Assert.Equal(expected, words);
            Assert.Equal(expectedEdges, edges);
        }
    }

    [Fact]
    public void Bytes_are_counted_by_words_and_by_places_as_their_scalar_twin_does()
    {
        var random = new Random(Seed.Next());
        for (int round = 0; round < 2_000; round++)
        {
            int count = random.Next(9), mask = random.Next(4);
            (byte[] bytes, ByteRange outer, ByteRange inner) = Draw(random, round, count);
            ulong[] words = new ulong[count];
            for (int i = 0; i < count * mask; i++)
                words[random.Next(count)] |= (ulong)random.NextInt64(long.MinValue, long.MaxValue)
                    & (ulong)random.NextInt64(long.MinValue, long.MaxValue);
            ushort[] edges = new ushort[bytes.Length],
                places = [
                    .. Enumerable.Range(0, count * ByteKernels.Group)
                        .Where(i => (words[i >> 6] >> i & 1) != 0)
                        .Select(i => (ushort)i)];
            ushort[] expected = [.. places.Where(i => outer.Contains(bytes[i]) && !inner.Contains(bytes[i]))];
            int inside = places.Count(i => inner.Contains(bytes[i]));
            Assert.Equal(
                (inside, expected.Length), (ByteKernels.CountScalar(bytes, outer, inner, words, edges, out int found), found));
            Assert.Equal(expected, edges[..found]);
            Array.Clear(edges);
            Assert.Equal((inside, expected.Length), (ByteKernels.Count(bytes, outer, inner, words, edges, out found), found));
            Assert.Equal(expected, edges[..found]);
            Array.Clear(edges);
            Assert.Equal((inside, expected.Length), (ByteKernels.Count(bytes, outer, inner, places, edges, out found), found));
            Assert.Equal(expected, edges[..found]);
        }
    }

    [Fact]
    public void Bytes_are_found_between_ends_and_those_at_an_end_said()
    {
        byte[] bytes = new byte[ByteKernels.Group];
        for (int i = 0; i < bytes.Length; i++)
            bytes[i] = (byte)(i * 4);
        ulong[] words = [ulong.MaxValue], edges = [0];
        Assert.True(ByteKernels.Between(bytes, new ByteRange(8, 20), new ByteRange(9, 20), words, edges));
        Assert.Equal((0b111100UL, 0b100UL), (words[0], edges[0]));
        words[0] = ulong.MaxValue;
        Assert.True(ByteKernels.Between(bytes, new ByteRange(252, 255), new ByteRange(253, 252), words, edges));
        Assert.Equal((1UL << 63, 1UL << 63), (words[0], edges[0]));
        words[0] = ulong.MaxValue;
        Assert.False(ByteKernels.Between(bytes, new ByteRange(0, 255), new ByteRange(0, 255), words, edges));
        Assert.Equal(ulong.MaxValue, words[0]);
        Assert.Equal(1UL << 5, ByteKernels.Equal(bytes, 20));
        Assert.Equal(1UL << 60, ByteKernels.Equal(bytes, 240));
    }

    /// <summary>Bytes for so many words, all alike at times, a range and a part of it.</summary>
    private static (byte[] Bytes, ByteRange Outer, ByteRange Inner) Draw(Random random, int round, int count)
    {
        byte[] bytes = new byte[(count * ByteKernels.Group) + random.Next(5)];
        random.NextBytes(bytes);
        if (round % 3 == 0)
            bytes.AsSpan().Fill((byte)random.Next(3));
        int first = round % 4 == 0 ? random.Next(3) : random.Next(256), last = random.Next(first, 256);
        return (bytes, new ByteRange(first, last), new ByteRange(first + random.Next(2), last - random.Next(2)));
    }
}
