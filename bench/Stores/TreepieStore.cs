using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Bench.Stores;

/// <summary>Ours: one tree of an environment with the options everyone gets.</summary>
internal sealed class TreepieStore : IKeyValueStore
{
    private const string TreeName = "entries";
    private readonly StorageEnvironment _environment;

    public TreepieStore(
        string directory, StoreSettings settings, EncryptionKey? key = null,
        long memoryBudgetBytes = StorageOptions.DefaultMemoryBudgetBytes)
    {
        _environment = StorageEnvironment.Open(
            directory,
            new StorageOptions
            {
                Durability = settings.IsDurable ? Durability.Durable : Durability.Relaxed,
                EncryptionKey = key,
                MemoryBudgetBytes = memoryBudgetBytes,
            });
        _environment.Write(static transaction => transaction.GetOrCreateTree(TreeName).Count);
    }

    /// <summary>How it is opened.</summary>
    public static StoreEngine Engine { get; } = new(
        "Treepie", IsPresent: true, (path, settings) => new TreepieStore(path, settings));

    /// <summary>Its figures.</summary>
    public StorageStatistics Statistics => _environment.GetStatistics();

    public IKeyValueSession OpenSession() => new Session(_environment);

    /// <summary>A session for callers who await; see <see cref="Session.WriteAsync"/>.</summary>
    public Session OpenAsyncSession() => new(_environment);

    public void Dispose() => _environment.Dispose();

    /// <summary>Its commands are made once, so that a call allocates only what the engine allocates.</summary>
    internal sealed class Session : IKeyValueSession
    {
        private readonly StorageEnvironment _environment;
        private readonly Func<WriteTransaction, int> _put;
        private readonly Func<WriteTransaction, int> _putIfAbsent;
        private Entries _entries = new();

        public Session(StorageEnvironment environment)
        {
            _environment = environment;
            _put = Put;
            _putIfAbsent = PutIfAbsent;
        }

        public void Write(Entries entries)
        {
            _entries = entries;
            _environment.Write(_put);
        }

        /// <summary>As <see cref="Write"/>, without a thread that waits.</summary>
        public ValueTask<int> WriteAsync(Entries entries)
        {
            _entries = entries;
            return _environment.WriteAsync(_put);
        }

        public int PutIfAbsent(Entries entries)
        {
            _entries = entries;
            return _environment.Write(_putIfAbsent);
        }

        public ulong Read(Entries keys)
        {
            var digest = default(Digest);
            using ReadScope read = _environment.Read();
            TreeView tree = read.GetTree(TreeName);
            for (int i = 0; i < keys.Count; i++)
            {
                ReadOnlySpan<byte> key = keys.Key(i);
                if (tree.TryGet(key, out ReadOnlySpan<byte> value))
                    digest.Add(key, value);
            }

            return digest.Sum;
        }

        public ulong ReadRange(ReadOnlySpan<byte> from, int count)
        {
            var digest = default(Digest);
            Span<byte> keyRoom = stackalloc byte[Tree.MaxKeyBytes];
            using ReadScope read = _environment.Read();
            foreach (LeafEntries leaf in read.GetTree(TreeName).Scan(from, keyRoom))
            {
                int wanted = Math.Min(count, leaf.Count);
                for (int i = 0; i < wanted; i++)
                {
                    leaf.Get(i, out ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value);
                    digest.Add(key, value);
                }

                count -= wanted;
                if (count == 0)
                    break;
            }

            return digest.Sum;
        }

        public void Dispose()
        {
        }

        private int Put(WriteTransaction transaction)
        {
            Tree tree = transaction.GetOrCreateTree(TreeName);
            for (int i = 0; i < _entries.Count; i++)
                tree.Put(_entries.Key(i), _entries.Value(i));
            return _entries.Count;
        }

        private int PutIfAbsent(WriteTransaction transaction)
        {
            Tree tree = transaction.GetOrCreateTree(TreeName);
            int added = 0;
            for (int i = 0; i < _entries.Count; i++)
            {
                ReadOnlySpan<byte> key = _entries.Key(i);
                if (tree.Contains(key))
                    continue;

                tree.Put(key, _entries.Value(i));
                added++;
            }

            return added;
        }
    }
}
