using Treepie.Bench.Stores;

namespace Treepie.Bench.Peers;

/// <summary>
/// SQLite as a key/value store: one table without row ids, WAL, <c>synchronous=full</c> (<c>off</c> where not durable), prepared
/// statements, the file mapped so that a hundred connections need no hundred caches. Writers queue in the application, which
/// spares them SQLite's sleeping.
/// </summary>
internal sealed class SqliteStore : IKeyValueStore
{
    private readonly Lock _writing = new();
    private readonly string _path;
    private readonly StoreSettings _settings;

    public SqliteStore(string directory, StoreSettings settings)
    {
        Directory.CreateDirectory(directory);
        _path = Path.Combine(directory, "store.sqlite");
        _settings = settings;
        using var connection = new Sqlite(_path);
        connection.Execute("create table if not exists entries(key blob primary key, value blob) without rowid");
    }

    /// <summary>Name and version, and whether it is on this machine.</summary>
    public static StoreEngine Engine { get; } = new(
        Sqlite.IsPresent ? $"SQLite {Sqlite.Version}" : "SQLite", Sqlite.IsPresent,
        (path, settings) => new SqliteStore(path, settings));

    public IKeyValueSession OpenSession() => new Session(this);

    public void Dispose()
    {
    }

    private sealed class Session : IKeyValueSession
    {
        private readonly SqliteStore _owner;
        private readonly Sqlite _connection;
        private readonly Sqlite.Statement _begin, _beginWrite, _commit, _put, _putNew, _get, _range;

        public Session(SqliteStore owner)
        {
            _owner = owner;
            _connection = new Sqlite(owner._path, isShared: false);
            _connection.Execute(owner._settings.IsDurable ? "pragma synchronous=full" : "pragma synchronous=off");
            _connection.Execute($"pragma mmap_size={Math.Max(owner._settings.MemoryBytes, 4L << 30)}");
            _begin = _connection.Prepare("begin");
            _beginWrite = _connection.Prepare("begin immediate");
            _commit = _connection.Prepare("commit");
            _put = _connection.Prepare("insert or replace into entries(key, value) values (?, ?)");
            _putNew = _connection.Prepare("insert or ignore into entries(key, value) values (?, ?)");
            _get = _connection.Prepare("select value from entries where key = ?");
            _range = _connection.Prepare("select key, value from entries where key >= ? order by key limit ?");
        }

        public void Write(Entries entries)
        {
            lock (_owner._writing)
            {
                if (entries.Count > 1)
                    _beginWrite.Step();
                for (int i = 0; i < entries.Count; i++)
                    Put(_put, entries, i);
                if (entries.Count > 1)
                    _commit.Step();
            }
        }

        public int PutIfAbsent(Entries entries)
        {
            lock (_owner._writing)
            {
                int before = _connection.TotalChanges;
                _beginWrite.Step();
                for (int i = 0; i < entries.Count; i++)
                    Put(_putNew, entries, i);
                _commit.Step();
                return _connection.TotalChanges - before;
            }
        }

        public ulong Read(Entries keys)
        {
            var digest = default(Digest);
            _begin.Step();
            for (int i = 0; i < keys.Count; i++)
            {
                _get.BindPinned(1, keys.Key(i));
                if (_get.Step())
                    digest.Add(keys.Key(i), _get.Blob(0));
                _get.Reset();
            }

            _commit.Step();
            return digest.Sum;
        }

        public ulong ReadRange(ReadOnlySpan<byte> from, int count)
        {
            var digest = default(Digest);
            _range.Bind(2, count).BindBlob(1, from);
            while (_range.Step())
                digest.Add(_range.Blob(0), _range.Blob(1));
            return digest.Sum;
        }

        public void Dispose()
        {
            foreach (Sqlite.Statement statement in (ReadOnlySpan<Sqlite.Statement>)
            [
                _begin, _beginWrite, _commit, _put, _putNew, _get, _range
            ])
                statement.Dispose();
            _connection.Dispose();
        }

        private static void Put(Sqlite.Statement statement, Entries entries, int index) =>
            statement.BindPinned(1, entries.Key(index)).BindPinned(2, entries.Value(index)).Step();
    }
}
