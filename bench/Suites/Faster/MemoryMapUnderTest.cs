using Treepie.Storage.Maps;

namespace Treepie.Bench.Suites.Faster;

/// <summary>Ours without durability: one operation at a time, or a thousand in one call.</summary>
internal sealed class MemoryMapUnderTest : IMapUnderTest
{
    private readonly MemoryMap<long, long, PrimitiveSerializer<long>, PrimitiveSerializer<long>> _map = new();

    public string Name => "Treepie";

    /// <summary>Bytes it says it uses.</summary>
    public long MemoryBytes => _map.MemoryBytes;

    public IMapClient Open() => new Single(_map);

    /// <summary>The same map through its calls for many keys.</summary>
    public IMapClient OpenBatched() => new Batched(_map);

    public void Dispose() => _map.Dispose();

    private sealed class Single(MemoryMap<long, long, PrimitiveSerializer<long>, PrimitiveSerializer<long>> map) : IMapClient
    {
        public long Read(ReadOnlySpan<long> keys)
        {
            long sum = 0;
            foreach (long key in keys)
            {
                if (map.TryGetValue(key, out long value))
                    sum += value;
            }

            return sum;
        }

        public void Upsert(ReadOnlySpan<long> keys)
        {
            foreach (long key in keys)
                map[key] = MapKeys.ValueOf(key);
        }

        public long Mix(ReadOnlySpan<long> keys)
        {
            long sum = 0;
            for (int i = 0; i < keys.Length; i++)
            {
                if ((i & 1) == 0 && map.TryGetValue(keys[i], out long value))
                    sum += value;
                else if ((i & 1) != 0)
                    map[keys[i]] = MapKeys.ValueOf(keys[i]);
            }

            return sum;
        }

        public void Dispose()
        {
        }
    }

    private sealed class Batched(MemoryMap<long, long, PrimitiveSerializer<long>, PrimitiveSerializer<long>> map) : IMapClient
    {
        private readonly long[] _values = new long[MapRun.BatchOperations];
        private readonly bool[] _found = new bool[MapRun.BatchOperations];

        public long Read(ReadOnlySpan<long> keys)
        {
            map.TryGetValues(keys, _values, _found);
            long sum = 0;
            foreach (long value in _values)
                sum += value;
            return sum;
        }

        public void Upsert(ReadOnlySpan<long> keys)
        {
            for (int i = 0; i < keys.Length; i++)
                _values[i] = MapKeys.ValueOf(keys[i]);
            map.SetAll(keys, _values);
        }

        public long Mix(ReadOnlySpan<long> keys) =>
            throw new NotSupportedException("Reads and writes in turn are single operations.");

        public void Dispose()
        {
        }
    }
}
