using Treepie.Bench.Stores;
using Treepie.Storage;
using Treepie.Storage.Maps;
using Treepie.Storage.Transactions;

namespace Treepie.Bench.Suites.Words;

/// <summary>
/// Ours: <see cref="DiskMap{TKey,TValue,TKeySerializer,TValueSerializer}"/> with relaxed durability, each call a transaction.
/// </summary>
internal sealed class DiskWords : IKeyValueStore
{
    private readonly StorageEnvironment _environment;
    private readonly DiskMap<ReadOnlyMemory<byte>, long, MemorySerializer, PrimitiveSerializer<long>> _map;

    public DiskWords(string directory, StoreSettings settings)
    {
        _environment = StorageEnvironment.Open(directory, new StorageOptions
        {
            Durability = settings.IsDurable ? Durability.Durable : Durability.Relaxed,
            ScratchBudgetBytes = settings.MemoryBytes,
            MemoryBudgetBytes = settings.MemoryBytes,
            RelaxedDelay = TimeSpan.FromMinutes(1),
        });
        _map = new(_environment, "words");
    }

    /// <summary>How it is opened.</summary>
    public static StoreEngine Engine { get; } = new(
        "Treepie", IsPresent: true, (path, settings) => new DiskWords(path, settings));

    public IKeyValueSession OpenSession() => new Session(_environment, _map);

    public void Dispose() => _environment.Dispose();

    private sealed class Session : IKeyValueSession
    {
        private readonly StorageEnvironment _environment;
        private readonly DiskMap<ReadOnlyMemory<byte>, long, MemorySerializer, PrimitiveSerializer<long>> _map;
        private readonly Func<WriteTransaction, int> _put;
        private Entries _entries = new();

        public Session(
            StorageEnvironment environment, DiskMap<ReadOnlyMemory<byte>, long, MemorySerializer, PrimitiveSerializer<long>> map)
        {
            _environment = environment;
            _map = map;
            _put = Put;
        }

        public void Write(Entries entries) => throw new NotSupportedException("It is measured by putIfAbsent.");

        public int PutIfAbsent(Entries entries)
        {
            _entries = entries;
            return _environment.Write(_put);
        }

        public ulong Read(Entries keys)
        {
            var digest = default(Digest);
            using ReadTransaction transaction = _environment.BeginRead();
            TransactionMap<ReadOnlyMemory<byte>, long, MemorySerializer, PrimitiveSerializer<long>> map = _map.In(transaction);
            for (int i = 0; i < keys.Count; i++)
            {
                if (map.TryGetValue(keys.KeyMemory(i), out long value))
                    digest.Add(keys.Key(i), BitConverter.GetBytes(value));
            }

            return digest.Sum;
        }

        public ulong ReadRange(ReadOnlySpan<byte> from, int count) => throw new NotSupportedException("A hash map has no order.");

        public void Dispose()
        {
        }

        private int Put(WriteTransaction transaction)
        {
            TransactionMap<ReadOnlyMemory<byte>, long, MemorySerializer, PrimitiveSerializer<long>> map = _map.In(transaction);
            int added = 0;
            for (int i = 0; i < _entries.Count; i++)
                added += map.TryAdd(_entries.KeyMemory(i), BitConverter.ToInt64(_entries.Value(i))) ? 1 : 0;
            return added;
        }
    }
}

/// <summary>Ours without durability, which is what the flat file promises too.</summary>
internal sealed class MemoryWords : IKeyValueStore
{
    private readonly MemoryMap<ReadOnlyMemory<byte>, long, MemorySerializer, PrimitiveSerializer<long>> _map = new();

    public IKeyValueSession OpenSession() => new Session(_map);

    public void Dispose() => _map.Dispose();

    private sealed class Session(MemoryMap<ReadOnlyMemory<byte>, long, MemorySerializer, PrimitiveSerializer<long>> map)
        : IKeyValueSession
    {
        public void Write(Entries entries) => throw new NotSupportedException("It is measured by putIfAbsent.");

        public int PutIfAbsent(Entries entries)
        {
            int added = 0;
            for (int i = 0; i < entries.Count; i++)
                added += map.TryAdd(entries.KeyMemory(i), BitConverter.ToInt64(entries.Value(i))) ? 1 : 0;
            return added;
        }

        public ulong Read(Entries keys)
        {
            var digest = default(Digest);
            for (int i = 0; i < keys.Count; i++)
            {
                if (map.TryGetValue(keys.KeyMemory(i), out long value))
                    digest.Add(keys.Key(i), BitConverter.GetBytes(value));
            }

            return digest.Sum;
        }

        public ulong ReadRange(ReadOnlySpan<byte> from, int count) => throw new NotSupportedException("A hash map has no order.");

        public void Dispose()
        {
        }
    }
}
