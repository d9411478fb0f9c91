using System.Collections.Concurrent;

namespace Treepie.Bench.Suites.Faster;

/// <summary>The base class library's.</summary>
internal sealed class DictionaryUnderTest(int capacity) : IMapUnderTest
{
    private ConcurrentDictionary<long, long> _map = new(Environment.ProcessorCount, capacity);

    public string Name => "ConcurrentDictionary";

    public IMapClient Open() => new Client(_map);

    public void Dispose() => _map = new();

    private sealed class Client(ConcurrentDictionary<long, long> map) : IMapClient
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
}
