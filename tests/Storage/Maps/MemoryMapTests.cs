using System.Collections.Concurrent;
using System.Globalization;
using Treepie.Storage.Maps;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Maps;

public sealed class MemoryMapTests
{
    [Fact]
    public void Numbers_to_numbers() =>
        RunRandom<long, long, PrimitiveSerializer<long>, PrimitiveSerializer<long>>(
            draw => draw.Next(30_000), draw => draw.NextInt64(), 120_000);

    /// <summary>Free slots contain key bytes too, mostly 0, which must not be found.</summary>
    [Fact]
    public void A_free_slot_is_no_key()
    {
        for (ulong seed = 0; seed < 200; seed++)
        {
            using var map = new MemoryMap<long, long, PrimitiveSerializer<long>, PrimitiveSerializer<long>>(
                maxBytes: 1 << 20, seed);
            map[100] = 1;
            for (long key = 0; key < 8; key++)
                Assert.False(map.TryGetValue(key, out _));
            for (long key = 0; key < 300; key++)
                map[key] = key + 1;
            for (long key = 0; key < 300; key++)
            {
                Assert.True(map.TryRemove(key, out long value));
                Assert.Equal(key + 1, value);
                Assert.False(map.TryGetValue(key, out _));
                Assert.False(map.ContainsKey(0));
            }

            Assert.Equal(0, map.TryGetValues([0, 1, 2, 299], new long[4], new bool[4]));
        }
    }

    [Fact]
    public void Texts_to_texts_of_any_length() => RunRandom<string, string, StringSerializer, StringSerializer>(
        draw => TransactionMapTests.Text(draw.Next(3000)),
        draw => new string('v', draw.Next(30) == 0 ? draw.Next(20_000) : draw.Next(100)), 40_000);

    [Fact]
    public void Keys_that_collide_wholly_or_in_part()
    {
        RunRandom<long, long, CollidingSerializer, PrimitiveSerializer<long>>(
            draw => draw.Next(1200), draw => draw.NextInt64(), 8_000);
        RunRandom<string, byte[], LowBitsSerializer, BytesSerializer>(
            draw => TransactionMapTests.Text(draw.Next(800)), draw => new byte[draw.Next(300)], 8_000);
    }

    [Fact]
    public void Growing_divides_every_bucket_and_loses_none()
    {
        using var map = new MemoryMap<int, int, PrimitiveSerializer<int>, PrimitiveSerializer<int>>();
        const int keys = 300_000;
        for (int i = 0; i < keys; i++)
        {
            Assert.True(map.TryAdd(i, -i));
            if (i % 10_007 == 0)
            {
                for (int key = 0; key <= i; key += 101)
                    Assert.Equal(-key, map[key]);
            }
        }

        Assert.Equal(keys, map.Count);
        Assert.Equal(keys, map.Keys.Distinct().Count());
        Assert.True(map.MemoryBytes < keys * 8L * 3, $"{map.MemoryBytes} bytes");
        Span<int> some = Enumerable.Range(keys - 500, 1000).ToArray();
        Span<int> values = new int[1000];
        Span<bool> found = new bool[1000];
        Assert.Equal(500, map.TryGetValues(some, values, found));
        for (int i = 0; i < 1000; i++)
        {
            Assert.Equal(i < 500, found[i]);
            Assert.Equal(i < 500 ? -some[i] : 0, values[i]);
        }

        for (int i = 0; i < keys; i++)
            Assert.True(map.TryRemove(i, out _));
        Assert.True(map.IsEmpty);
        Assert.True(map.MemoryBytes < 128 << 10, $"{map.MemoryBytes} bytes");
    }

    [Fact]
    public async Task Many_threads_at_once_never_see_half_a_value_and_lose_nothing()
    {
        int seed = Seed.Next();
        using var map = new MemoryMap<long, string, PrimitiveSerializer<long>, StringSerializer>();
        const int threads = 4, keysEach = 2000, steps = 30_000;
        var wrong = new ConcurrentQueue<string>();
        var expected = new Dictionary<long, string?>[threads];
        Task[] writers = [.. Enumerable.Range(0, threads).Select(thread => Task.Run(() =>
        {
            var random = new Random(seed + thread);
            Dictionary<long, string?> own = expected[thread] = [];
            for (int i = 0; i < steps; i++)
            {
                long key = (random.Next(keysEach) * threads) + thread; // each thread has its own keys, in shared buckets
                if (random.Next(4) == 0)
                {
                    bool isRemoved = map.TryRemove(key, out string? removed);
                    if (isRemoved != (own.GetValueOrDefault(key) is not null) || removed != own.GetValueOrDefault(key))
                        wrong.Enqueue($"removed {key}: {removed}");
                    own[key] = null;
                }
                else
                {
                    own[key] = new string(
                        (char)('a' + random.Next(26)), random.Next(50) == 0 ? random.Next(9000) : random.Next(120));
                    map[key] = own[key]!; // set above
                }

                long other = random.Next(keysEach * threads);
                if (map.TryGetValue(other, out string? value)
                    && value.AsSpan().ContainsAnyExcept(value.Length == 0 ? 'a' : value[0]))
                    wrong.Enqueue($"{other} has a torn value of {value.Length}");
                if (i % 5000 == 0 && map.Keys.GroupBy(found => found).Any(group => group.Count() > 1))
                    wrong.Enqueue("an enumeration met a key twice");
            }
        }))];
        await Task.WhenAll(writers);

        Assert.Empty(wrong);
        foreach ((long key, string? value) in expected.SelectMany(own => own))
            Assert.Equal(value, map.TryGetValue(key, out string? found) ? found : null);
        Assert.Equal(expected.Sum(own => own.Values.Count(value => value is not null)), map.Count);
        Assert.Equal(map.Count, map.ToArray().Length);
    }

    [Fact]
    public async Task Threads_that_count_in_one_map_lose_no_step()
    {
        using var map = new MemoryMap<int, long, PrimitiveSerializer<int>, PrimitiveSerializer<long>>();
        const int threads = 4, steps = 50_000, keys = 7;
        Task[] counters = [.. Enumerable.Range(0, threads).Select(_ => Task.Run(() =>
        {
            for (int i = 0; i < steps; i++)
                map.AddOrUpdate(i % keys, 1, (_, count) => count + 1);
        }))];
        await Task.WhenAll(counters);
        Assert.Equal(threads * steps, map.Values.Sum());
    }

    [Fact]
    public async Task Growing_under_readers_hides_no_key()
    {
        using var map = new MemoryMap<int, int, PrimitiveSerializer<int>, PrimitiveSerializer<int>>();
        int published = 0;
        var writer = Task.Run(() =>
        {
            for (int i = 0; i < 400_000; i++)
            {
                map[i] = i;
                Volatile.Write(ref published, i + 1);
            }
        });
        var missing = new ConcurrentQueue<int>();
        Task[] readers = [.. Enumerable.Range(0, 2).Select(reader => Task.Run(() =>
        {
            var random = new Random(reader);
            while (!writer.IsCompleted)
            {
                int key = random.Next(Math.Max(1, Volatile.Read(ref published)));
                if (key < Volatile.Read(ref published) && (!map.TryGetValue(key, out int value) || value != key))
                    missing.Enqueue(key);
            }
        }))];
        await Task.WhenAll([writer, .. readers]);
        Assert.Empty(missing);
    }

    [Fact]
    public void An_enumeration_under_writes_meets_each_key_that_stays_once()
    {
        using var map = new MemoryMap<int, int, PrimitiveSerializer<int>, PrimitiveSerializer<int>>(seed: 3);
        const int staying = 3000;
        for (int i = 0; i < staying; i++)
            map[i] = i;
        var met = new HashSet<int>();
        int next = staying;
        foreach ((int key, int _) in map)
        {
            Assert.True(met.Add(key), $"{key} was met twice");
            for (int i = 0; i < 20 && key < staying; i++)
                map[next++] = 0; // splits buckets before and after the position of the enumeration
        }

        Assert.True(met.IsSupersetOf(Enumerable.Range(0, staying)));
    }

    [Fact]
    public void Operations_on_numbers_allocate_nothing()
    {
        using var map = new MemoryMap<long, long, PrimitiveSerializer<long>, PrimitiveSerializer<long>>();
        for (long i = 0; i < 20_000; i++)
            map[i] = i;
        Work(map);

        // Other code may allocate on this thread in some rounds, for example when the runtime recompiles. Operations that
        // allocate would do so in every round.
        long least = long.MaxValue;
        for (int round = 0; round < 5 && least > 0; round++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            Work(map);
            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
        }

        Assert.Equal(0, least);

        static void Work(MemoryMap<long, long, PrimitiveSerializer<long>, PrimitiveSerializer<long>> map)
        {
            for (long i = 0; i < 5000; i++)
            {
                Assert.True(map.TryGetValue(i, out _));
                map[i] = i + 1;
                map.TryRemove(i, out _);
                map.TryAdd(i, i);
            }
        }
    }

    [Fact]
    public void A_map_that_has_all_its_memory_says_so_and_keeps_what_it_has()
    {
        using var map = new MemoryMap<int, byte[], PrimitiveSerializer<int>, BytesSerializer>(maxBytes: 4 << 20);
        int count = 0;
        Assert.Throws<StorageException>(() =>
        {
            while (count < 100_000)
            {
                map[count] = new byte[1000];
                count++;
            }
        });
        Assert.True(count > 1500, $"{count}");
        for (int i = 0; i < count; i++)
            Assert.Equal(1000, map[i].Length);
        map.Clear();
        Assert.True(map.IsEmpty);
        map[1] = new byte[100_000];
        Assert.Equal(100_000, map[1].Length);
    }

    [Fact]
    public void Bad_input_is_refused_and_nothing_is_changed()
    {
        using var map = new MemoryMap<string, string, FaultySerializer, FaultySerializer>();
        map["a"] = "1";
        Assert.Throws<ArgumentNullException>(() => map[null!] = "x"); // tests null
        Assert.Throws<ArgumentNullException>(() => map["x"] = null!); // tests null
        Assert.Throws<ArgumentException>(() => map[new string('k', 1025)] = "x");
        Assert.Throws<FormatException>(() => map["x"] = FaultySerializer.Throws);
        Assert.Throws<FormatException>(() => map["a"] = FaultySerializer.ThrowsLate);
        Assert.Throws<FormatException>(() => map.GetOrAdd("x", _ => throw new FormatException()));
        Assert.Throws<KeyNotFoundException>(() => map["x"]);
        Assert.Throws<ArgumentException>(() => map.SetAll(["x"], []));
        Assert.Throws<NotSupportedException>(
            () => new MemoryMap<nint, int, PrimitiveSerializer<nint>, PrimitiveSerializer<int>>());
        Assert.Equal([new("a", "1")], map.ToArray());
    }

    [Fact]
    public void After_disposing_every_operation_says_so()
    {
        var map = new MemoryMap<int, int, PrimitiveSerializer<int>, PrimitiveSerializer<int>>();
        map[1] = 1;
        map.Dispose();
        map.Dispose();
        Assert.Throws<ObjectDisposedException>(() => map.TryGetValue(1, out _));
        Assert.Throws<ObjectDisposedException>(() => map[1] = 2);
        Assert.Throws<ObjectDisposedException>(() => map.ToArray());
    }

    private static void RunRandom<TKey, TValue, TKeySerializer, TValueSerializer>(
        Func<Random, TKey> drawKey, Func<Random, TValue> drawValue, int steps)
        where TKey : notnull
        where TKeySerializer : struct, IMapSerializer<TKey>
        where TValueSerializer : struct, IMapSerializer<TValue>
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        using var map = new MemoryMap<TKey, TValue, TKeySerializer, TValueSerializer>(seed: (ulong)seed);
        var model = new Dictionary<TKey, TValue>();
        int removePercent = 30;
        for (int i = 0; i < steps; i++)
        {
            if (i % 5000 == 0)
                removePercent = random.Next(10, 70);
            TKey key = drawKey(random);
            bool isThere = model.TryGetValue(key, out TValue? before);
            Assert.Equal(isThere, map.TryGetValue(key, out TValue? found));
            Assert.Equal(before, found);
            TValue value = drawValue(random);
            int action = random.Next(100);
            if (action < removePercent)
            {
                // The key exists.
                Assert.Equal(
                    model.Remove(key),
                    random.Next(2) == 0 || !isThere ? map.TryRemove(key, out _) : map.TryRemove(new(key, before!)));
            }
            else if (action % 4 == 0)
            {
                Assert.Equal(!isThere, map.TryAdd(key, value));
                model.TryAdd(key, value);
            }
            else if (action % 4 == 1 && isThere)
            {
                Assert.True(map.TryUpdate(key, value, before!)); // the key exists
                model[key] = value;
            }
            else
            {
                map[key] = value;
                model[key] = value;
            }

            Assert.Equal(model.Count, map.Count);
        }

        Assert.Equal(model.OrderBy(pair => Text(pair.Key)), map.OrderBy(pair => Text(pair.Key)));
        map.Clear();
        Assert.Empty(map);

        static string Text(TKey key) => Convert.ToString(key, CultureInfo.InvariantCulture) ?? "";
    }
}
