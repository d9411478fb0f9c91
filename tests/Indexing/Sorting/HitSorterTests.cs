using System.Buffers.Binary;
using Treepie.Indexing.Sorting;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Sorting;

/// <summary>The sorter against sorting all hits: random keys of several parts, any limit, and an order continued.</summary>
public sealed class HitSorterTests
{
    [Fact]
    public void The_first_hits_are_those_of_a_sorted_list()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var room = new SortRoom();
        for (int round = 0; round < 1_500; round++)
        {
            int count = random.Next(5) == 0 ? random.Next(900) : random.Next(70);
            byte[][][] values = [.. Enumerable.Range(0, random.Next(4)).Select(_ => Values(random, count))];
            KeyPart[] parts = [.. values.Select(own => new GivenPart(own, hasLeast: random.Next(2) == 0))];
            List<byte[]> sorted =
                [.. Enumerable.Range(0, count).Select(id => Key(values, id)).Order(Comparer<byte[]>.Create(Compare))];
            byte[] after = count == 0 || random.Next(3) > 0 ? [] : sorted[random.Next(count)];
            int limit = random.Next(4) switch { 0 => 0, 1 => count + random.Next(3), 2 => random.Next(8), _ => random.Next(200) };

            var sorter = new HitSorter(parts, limit, room, after);
            long[] ids = [.. Enumerable.Range(0, count)];
            if (random.Next(2) == 0)
                random.Shuffle(ids);
            foreach (long id in ids)
                sorter.Add(id, id * 0.5f);
            long[] expected =
                [.. sorted.Where(key => after.Length == 0 || Compare(key, after) > 0).Take(limit).Select(IdOf)];
            Assert.Equal(expected.Length, sorter.Count);
            ReadOnlySpan<SortedHit> found = sorter.Finish();
            string what = $"seed {seed}, round {round}: {count} hits, {parts.Length} parts, limit {limit}";
            Assert.True(found.Length == expected.Length, what);
            for (int i = 0; i < found.Length; i++)
                Assert.True(found[i].Id == expected[i] && found[i].Score == expected[i] * 0.5f, $"{what}, hit {i}");
            room.Clear();
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Hits_by_score_are_the_best_with_the_smaller_id_first_among_equals(bool isDescending)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var room = new SortRoom();
        for (int round = 0; round < 600; round++)
        {
            int count = random.Next(300), limit = random.Next(60);
            (long Id, float Score)[] hits =
            [
                .. Enumerable.Range(0, count).Select(
                    id => ((long)id, random.Next(3) == 0 ? random.Next(-4, 4) : (random.NextSingle() - 0.5f) * 1e6f)),
            ];
            (long Id, float Score)[] expected =
            [
                .. (isDescending ? hits.OrderByDescending(hit => hit.Score) : hits.OrderBy(hit => hit.Score))
                    .ThenBy(hit => hit.Id).Take(limit),
            ];
            random.Shuffle(hits);
            var sorter = new HitSorter([new ScoreKeyPart(isDescending)], limit, room);
            Assert.True(sorter.IsByScore);
            foreach ((long id, float score) in hits)
            {
                if (isDescending)
                    sorter.AddIfBetter(id, score);
                else
                    sorter.Add(id, score);
            }

            if (count >= limit && limit > 0)
                Assert.Equal((expected[^1].Id, expected[^1].Score), (sorter.WorstId, sorter.WorstScore));
            else if (count < limit)
                Assert.Equal((long.MaxValue, float.NegativeInfinity), (sorter.WorstId, sorter.WorstScore));
            List<(long, float)> found = [];
            foreach (SortedHit hit in sorter.Finish())
                found.Add((hit.Id, hit.Score));
            Assert.True(expected.SequenceEqual(found), $"seed {seed}, round {round}: {count} hits, limit {limit}");
            room.Clear();
        }
    }

    /// <summary>Keys of all lengths, kept and dropped, lie beside each other and do not change each other.</summary>
    [Fact]
    public void An_arena_returns_each_key_as_it_was_put_there_last()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        var arena = new KeyArena();
        for (int round = 0; round < 6; round++)
        {
            var keys = new List<(long Place, int Capacity, byte[] Key)>();
            for (int i = 0; i < 3_000; i++)
            {
                byte[] key = new byte[random.Next(1_800) switch
                {
                    < 30 => random.Next(70_000),
                    30 => 1_100_000,
                    _ => random.Next(1, 200),
                }];
                random.NextBytes(key.AsSpan(0, Math.Min(key.Length, 300)));
                if (keys.Count == 0 || random.Next(2) == 0)
                {
                    keys.Add((arena.Add(key), key.Length, key));
                    continue;
                }

                int which = random.Next(keys.Count);
                int capacity = keys[which].Capacity;
                long place = arena.Replace(keys[which].Place, ref capacity, key);
                Assert.True(capacity >= key.Length);
                Assert.True(key.Length > keys[which].Capacity || place == keys[which].Place, "a key that fits moves nowhere");
                keys[which] = (place, capacity, key);
            }

            foreach ((long place, _, byte[] key) in keys)
                Assert.True(arena[place, key.Length].SequenceEqual(key), $"seed {seed}, round {round}");
            arena.Clear();
        }
    }

    /// <summary>
    /// Keys from few values, so that many begin alike, of lengths around the eight bytes that are compared first.
    /// </summary>
    private static byte[][] Values(Random random, int count)
    {
        int distinct = random.Next(1, 12), longest = random.Next(3) switch { 0 => 3, 1 => 12, _ => 200 };
        byte[][] known = [.. Enumerable.Range(0, distinct).Select(_ => Value(random, longest))];
        return
        [
            .. Enumerable.Range(0, count).Select(
                _ => random.Next(3) == 0 ? Value(random, longest) : known[random.Next(distinct)]),
        ];
    }

    private static byte[] Value(Random random, int longest)
    {
        byte[] value = new byte[random.Next(1, longest + 1)];
        foreach (ref byte one in value.AsSpan())
            one = (byte)(random.Next(3) switch { 0 => 0, 1 => random.Next(3), _ => 255 - random.Next(2) });
        return value;
    }

    private static byte[] Key(byte[][][] values, int id)
    {
        byte[] last = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(last, id);
        return [.. values.SelectMany(own => own[id]), .. last];
    }

    private static long IdOf(byte[] key) => BinaryPrimitives.ReadInt64BigEndian(key.AsSpan(key.Length - sizeof(long)));

    private static int Compare(byte[] x, byte[] y) => x.AsSpan().SequenceCompareTo(y);

    /// <summary>A part with a value for each entry, and its first eight bytes as their bound or none.</summary>
    private sealed class GivenPart(byte[][] values, bool hasLeast) : KeyPart
    {
        public override void Append(long id, float score, KeyBuffer key)
        {
            foreach (byte value in values[id])
                key.Append(value);
        }

        public override ulong Least(long id)
        {
            if (!hasLeast)
                return 0;
            Span<byte> first = stackalloc byte[sizeof(ulong)];
            first.Clear();
            values[id].AsSpan(0, Math.Min(first.Length, values[id].Length)).CopyTo(first);
            return BinaryPrimitives.ReadUInt64BigEndian(first);
        }
    }
}
