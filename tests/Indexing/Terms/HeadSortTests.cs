using Treepie.Indexing.Terms;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Terms;

public sealed class HeadSortTests
{
    [Fact]
    public void Heads_of_every_kind_come_into_order_with_their_ordinals()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var sort = new HeadSort();
        for (int round = 0; round < 400; round++)
        {
            // Bytes that vary are some of the eight: none, one, the first, the last, all.
            ulong varying = (ulong)random.NextInt64() & (ulong)random.NextInt64() & (random.Next(4) == 0 ? 0 : ulong.MaxValue),
                same = (ulong)random.NextInt64() << 1;
            if (random.Next(3) == 0)
                varying = random.Next(3) switch { 0 => 0xFF, 1 => 0xFFUL << 56, _ => ulong.MaxValue };
            ulong[] given = [
                .. Enumerable.Range(0, random.Next(2) == 0 ? random.Next(0, 300) : random.Next(300, 5_000))
                    .Select(_ => (Random64(random) & varying) | (same & ~varying))];
            ulong[] heads = [.. given];
            int[] ordinals = [.. Enumerable.Range(0, given.Length)];
            sort.Sort(heads, ordinals);
            Assert.True(heads.SequenceEqual(given.Order()), $"seed {seed}, round {round}");
            Assert.True(ordinals.Order().SequenceEqual(Enumerable.Range(0, given.Length)), $"seed {seed}, round {round}");
            Assert.True(ordinals.Select(ordinal => given[ordinal]).SequenceEqual(heads), $"seed {seed}, round {round}");
            if (round % 50 == 0)
                sort.Trim(64);
        }
    }

    private static ulong Random64(Random random) => ((ulong)random.NextInt64() << 1) ^ (ulong)random.NextInt64();
}
