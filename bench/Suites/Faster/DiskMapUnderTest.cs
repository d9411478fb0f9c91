using Treepie.Storage;
using Treepie.Storage.Maps;
using Treepie.Storage.Transactions;

namespace Treepie.Bench.Suites.Faster;

/// <summary>
/// Ours with durability: a call is a transaction. Scratch and journal are as large as the data, as caches and logs of the peers
/// are.
/// </summary>
internal sealed class DiskMapUnderTest(string directory, long keys) : IMapUnderTest, ILoadedApart
{
    private const int ReservedBytesPerKey = 200;
    private StorageEnvironment? _environment;

    public string Name => "Treepie";

    public IMapClient Open()
    {
        _environment ??= Open(Durability.Durable);
        return new Client(_environment, isOwner: false);
    }

    public IMapClient OpenToLoad() => new Client(Open(Durability.Relaxed), isOwner: true);

    public void Dispose() => _environment?.Dispose();

    private StorageEnvironment Open(Durability durability) => StorageEnvironment.Open(directory, new StorageOptions
    {
        Durability = durability,
        ScratchBudgetBytes = Math.Max(256L << 20, keys * ReservedBytesPerKey),
        MemoryBudgetBytes = Math.Max(256L << 20, keys * ReservedBytesPerKey),
        MaxJournalFileBytes = 256L << 20,
    });

    private sealed class Client : IMapClient
    {
        private readonly StorageEnvironment _environment;
        private readonly bool _isOwner;
        private readonly DiskMap<long, long, PrimitiveSerializer<long>, PrimitiveSerializer<long>> _map;
        private readonly Func<WriteTransaction, int> _upsert;
        private readonly long[] _keys = new long[MapRun.BatchOperations];
        private int _count;

        public Client(StorageEnvironment environment, bool isOwner)
        {
            _environment = environment;
            _isOwner = isOwner;
            _map = new(environment, "map");
            _upsert = Upsert;
        }

        public long Read(ReadOnlySpan<long> keys)
        {
            using ReadTransaction transaction = _environment.BeginRead();
            TransactionMap<long, long, PrimitiveSerializer<long>, PrimitiveSerializer<long>> map = _map.In(transaction);
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
            keys.CopyTo(_keys);
            _count = keys.Length;
            _environment.Write(_upsert);
        }

        public long Mix(ReadOnlySpan<long> keys)
        {
            using ReadTransaction transaction = _environment.BeginRead();
            TransactionMap<long, long, PrimitiveSerializer<long>, PrimitiveSerializer<long>> map = _map.In(transaction);
            long sum = 0;
            _count = 0;
            for (int i = 0; i < keys.Length; i++)
            {
                if ((i & 1) != 0)
                    _keys[_count++] = keys[i];
                else if (map.TryGetValue(keys[i], out long value))
                    sum += value;
            }

            _environment.Write(_upsert);
            return sum;
        }

        public void Dispose()
        {
            if (_isOwner)
                _environment.Dispose();
        }

        private int Upsert(WriteTransaction transaction)
        {
            TransactionMap<long, long, PrimitiveSerializer<long>, PrimitiveSerializer<long>> map = _map.In(transaction);
            for (int i = 0; i < _count; i++)
                map[_keys[i]] = MapKeys.ValueOf(_keys[i]);
            return _count;
        }
    }
}
