using System.Runtime.InteropServices;
using Treepie.Bench.Stores;

namespace Treepie.Bench.Suites.Faster;

/// <summary>An ordered store as a map: a call is a transaction.</summary>
internal sealed class StoreUnderTest(StoreEngine engine, string directory) : IMapUnderTest, ILoadedApart
{
    private const long MemoryBytes = 2L << 30;
    private IKeyValueStore? _store;

    public string Name => engine.Name;

    public IMapClient Open()
    {
        _store ??= engine.Open(directory, new StoreSettings(IsDurable: true, MemoryBytes));
        return new Client(_store.OpenSession(), null);
    }

    public IMapClient OpenToLoad()
    {
        IKeyValueStore loading = engine.Open(directory, new StoreSettings(IsDurable: false, MemoryBytes));
        return new Client(loading.OpenSession(), loading);
    }

    public void Dispose() => _store?.Dispose();

    private sealed class Client(IKeyValueSession session, IKeyValueStore? owned) : IMapClient
    {
        private readonly Entries _entries = new();

        public long Read(ReadOnlySpan<long> keys)
        {
            _entries.Clear();
            foreach (long key in keys)
                Add(key, value: null);
            return (long)session.Read(_entries);
        }

        public long Expect(ReadOnlySpan<long> keys)
        {
            _entries.Clear();
            foreach (long key in keys)
                Add(key, MapKeys.ValueOf(key));
            var digest = default(Digest);
            for (int i = 0; i < _entries.Count; i++)
                digest.Add(_entries.Key(i), _entries.Value(i));
            return (long)digest.Sum;
        }

        public void Upsert(ReadOnlySpan<long> keys)
        {
            _entries.Clear();
            foreach (long key in keys)
                Add(key, MapKeys.ValueOf(key));
            session.Write(_entries);
        }

        public long Mix(ReadOnlySpan<long> keys)
        {
            _entries.Clear();
            for (int i = 0; i < keys.Length; i += 2)
                Add(keys[i], value: null);
            long sum = (long)session.Read(_entries);
            _entries.Clear();
            for (int i = 1; i < keys.Length; i += 2)
                Add(keys[i], MapKeys.ValueOf(keys[i]));
            session.Write(_entries);
            return sum;
        }

        public void Dispose()
        {
            session.Dispose();
            owned?.Dispose();
        }

        private void Add(long key, long? value)
        {
            long ordered = System.Buffers.Binary.BinaryPrimitives.ReverseEndianness(key); // so that loading is in order
            long stored = value.GetValueOrDefault();
            _entries.Add(
                MemoryMarshal.AsBytes(new ReadOnlySpan<long>(in ordered)),
                value is null ? default : MemoryMarshal.AsBytes(new ReadOnlySpan<long>(in stored)));
        }
    }
}
