using System.Globalization;
using Treepie.Storage;
using Treepie.Storage.Maps;
using Treepie.Storage.Simulation;

namespace Treepie.Mutants.Interleavings;

/// <summary>
/// Threads change and read one map in memory, which grows meanwhile. Each key belongs to one writer, which knows what it holds;
/// counters belong to all, and count every increment; readers find what was added for good before they look, see values that
/// belong to their keys, and never an older one after a newer.
/// </summary>
internal sealed class MapRun(Random random, SimulatedScheduler threads)
{
    private const int Writers = 3;
    private const int Keys = 60;
    private const int Steps = 80;
    private const int Counters = 3;

    private readonly MemoryMap<long, string, PrimitiveSerializer<long>, StringSerializer> _map = new(maxBytes: 16 << 20, seed: 1);
    private readonly string?[] _own = new string?[Keys];
    private readonly long[] _added = new long[Counters];
    private readonly List<int> _kept = []; // added for good

    public void Run()
    {
        using (_map)
        {
            threads.Run([
                .. Enumerable.Range(0, Writers).Select<int, Action>(writer => () => Write(writer)),
                .. Enumerable.Range(0, 2).Select<int, Action>(_ => Read),
            ]);
            for (int key = 0; key < Keys; key++)
                Demand((_map.TryGetValue(key, out string? value) ? value : null) == _own[key], $"key {key} holds '{value}'");
            for (int counter = 0; counter < Counters; counter++)
                Demand(
                    long.Parse(_map.GetOrAdd(-1 - counter, "0"), CultureInfo.InvariantCulture) == _added[counter],
                    $"counter {counter} has lost an increment");
            long expected = _own.Count(value => value is not null) + Counters + _kept.Count;
            Demand(_map.Count == expected && _map.ToArray().Length == expected, $"it counts {_map.Count} for {expected}");
        }
    }

    private static string Value(int key, int version) =>
        string.Create(CultureInfo.InvariantCulture, $"{key}:{version}:") + new string('x', ((key * 7) + (version * 31)) % 300);

    private void Write(int writer)
    {
        for (int version = 1; version <= Steps; version++)
        {
            int key = (random.Next(Keys / Writers) * Writers) + writer;
            string? own = _own[key];
            int kept = Keys + (version * Writers) + writer;
            Demand(_map.TryAdd(kept, Value(kept, 1)), $"key {kept} is there before it is added");
            _kept.Add(kept);
            Demand((_map.TryGetValue(key, out string? seen) ? seen : null) == own, $"its writer finds '{seen}' under key {key}");
            switch (random.Next(5))
            {
                case 0 when own is not null:
                    Demand(_map.TryRemove(key, out string? removed) && removed == own, $"key {key} is not removed as it is");
                    _own[key] = null;
                    break;
                case 1:
                    Demand(_map.TryAdd(key, Value(key, version)) == own is null, $"key {key} is added where it is");
                    _own[key] = own ?? Value(key, version);
                    break;
                case 2 when own is not null:
                    Demand(_map.TryUpdate(key, Value(key, version), own), $"key {key} is not replaced");
                    _own[key] = Value(key, version);
                    break;
                case 3:
                    int counter = random.Next(Counters);
                    _map.AddOrUpdate(
                        -1 - counter, "1",
                        static (_, old) => (long.Parse(old, CultureInfo.InvariantCulture) + 1).ToString(CultureInfo.InvariantCulture));
                    _added[counter]++;
                    break;
                default:
                    _map[key] = Value(key, version);
                    _own[key] = Value(key, version);
                    break;
            }
        }
    }

    private void Read()
    {
        var newest = new int[Keys];
        for (int step = 0; step < Steps; step++)
        {
            if (_kept.Count > 0)
            {
                int kept = _kept[random.Next(_kept.Count)];
                Demand(
                    _map.TryGetValue(kept, out string? there) && there == Value(kept, 1),
                    $"a reader misses key {kept}, which was added for good");
            }

            int key = random.Next(Keys);
            if (!_map.TryGetValue(key, out string? value))
                continue;

            string[] parts = value.Split(':');
            int version = parts.Length == 3 ? int.Parse(parts[1], CultureInfo.InvariantCulture) : 0;
            Demand(version > 0 && value == Value(key, version), $"a reader finds '{value}' under key {key}");
            Demand(version >= newest[key], $"a reader finds version {version} of key {key} after {newest[key]}");
            newest[key] = version;
        }
    }

    private static void Demand(bool isSo, string otherwise)
    {
        if (!isSo)
            throw new StorageException($"In the map {otherwise}.");
    }
}
