using System.Runtime.InteropServices;
using Treepie.Bench.Stores;

namespace Treepie.Bench.Peers;

/// <summary>
/// RocksDB through its C interface: <c>sync</c> writes with its own group commit, a block cache that holds everything, bloom
/// filters of ten bits, log files recycled (which spares it a change of the file system's records at each sync), no compression
/// (the values are random).
/// </summary>
internal sealed unsafe class RocksDb : IKeyValueStore
{
    private readonly nint _cache;
    private readonly nint _tables;
    private readonly nint _options;
    private readonly nint _writeOptions;
    private readonly nint _readOptions;
    private readonly nint _database;

    public RocksDb(string directory, StoreSettings settings)
    {
        Directory.CreateDirectory(directory);
        _cache = rocksdb_cache_create_lru((nuint)settings.MemoryBytes);
        _tables = rocksdb_block_based_options_create();
        rocksdb_block_based_options_set_block_cache(_tables, _cache);
        rocksdb_block_based_options_set_filter_policy(_tables, rocksdb_filterpolicy_create_bloom_full(10)); // the tables own it
        _options = rocksdb_options_create();
        rocksdb_options_set_create_if_missing(_options, 1);
        rocksdb_options_set_block_based_table_factory(_options, _tables);
        rocksdb_options_set_compression(_options, 0);
        rocksdb_options_set_recycle_log_file_num(_options, 4);
        rocksdb_options_increase_parallelism(_options, Environment.ProcessorCount);
        _writeOptions = rocksdb_writeoptions_create();
        rocksdb_writeoptions_set_sync(_writeOptions, settings.IsDurable ? (byte)1 : (byte)0);
        _readOptions = rocksdb_readoptions_create();
        _database = rocksdb_open(_options, directory, out nint error);
        Check(error);
    }

    /// <summary>Name and version, and whether it is on this machine.</summary>
    public static StoreEngine Engine { get; } = new(
        $"RocksDB {PeerLibrary.VersionOfFile(PeerLibrary.RocksDb)}".TrimEnd(), PeerLibrary.IsPresent(PeerLibrary.RocksDb),
        (path, settings) => new RocksDb(path, settings));

    public IKeyValueSession OpenSession() => new Session(this);

    public void Dispose()
    {
        rocksdb_close(_database);
        rocksdb_readoptions_destroy(_readOptions);
        rocksdb_writeoptions_destroy(_writeOptions);
        rocksdb_options_destroy(_options);
        rocksdb_block_based_options_destroy(_tables);
        rocksdb_cache_destroy(_cache);
    }

    private static void Check(nint error)
    {
        if (error != 0)
            throw new InvalidOperationException($"RocksDB says: {Marshal.PtrToStringUTF8(error)}");
    }

    private sealed class Session(RocksDb owner) : IKeyValueSession
    {
        private readonly nint _batch = rocksdb_writebatch_create();
        private nint _indexed;

        public void Write(Entries entries)
        {
            rocksdb_writebatch_clear(_batch);
            for (int i = 0; i < entries.Count; i++)
            {
                ReadOnlySpan<byte> key = entries.Key(i), value = entries.Value(i);
                rocksdb_writebatch_put(
                    _batch, entries.AddressOf(key), (nuint)key.Length, entries.AddressOf(value), (nuint)value.Length);
            }

            rocksdb_write(owner._database, owner._writeOptions, _batch, out nint error);
            Check(error);
        }

        public int PutIfAbsent(Entries entries)
        {
            if (_indexed == 0)
                _indexed = rocksdb_writebatch_wi_create(0, 1);
            rocksdb_writebatch_wi_clear(_indexed);
            int added = 0;
            for (int i = 0; i < entries.Count; i++)
            {
                ReadOnlySpan<byte> key = entries.Key(i), value = entries.Value(i);
                byte* found = rocksdb_writebatch_wi_get_from_batch_and_db(
                    _indexed, owner._database, owner._readOptions, entries.AddressOf(key), (nuint)key.Length, out _,
                    out nint error);
                Check(error);
                if (found != null)
                {
                    rocksdb_free(found);
                    continue;
                }

                rocksdb_writebatch_wi_put(
                    _indexed, entries.AddressOf(key), (nuint)key.Length, entries.AddressOf(value), (nuint)value.Length);
                added++;
            }

            rocksdb_write_writebatch_wi(owner._database, owner._writeOptions, _indexed, out nint failure);
            Check(failure);
            return added;
        }

        public ulong Read(Entries keys)
        {
            var digest = default(Digest);
            nint snapshot = rocksdb_create_snapshot(owner._database);
            nint options = rocksdb_readoptions_create();
            rocksdb_readoptions_set_snapshot(options, snapshot);
            for (int i = 0; i < keys.Count; i++)
            {
                ReadOnlySpan<byte> key = keys.Key(i);
                nint slice = rocksdb_get_pinned(owner._database, options, keys.AddressOf(key), (nuint)key.Length, out nint error);
                Check(error);
                if (slice == 0)
                    continue;

                byte* value = rocksdb_pinnableslice_value(slice, out nuint length);
                digest.Add(key, new ReadOnlySpan<byte>(value, (int)length));
                rocksdb_pinnableslice_destroy(slice);
            }

            rocksdb_readoptions_destroy(options);
            rocksdb_release_snapshot(owner._database, snapshot);
            return digest.Sum;
        }

        public ulong ReadRange(ReadOnlySpan<byte> from, int count)
        {
            var digest = default(Digest);
            nint iterator = rocksdb_create_iterator(owner._database, owner._readOptions);
            fixed (byte* start = from)
                rocksdb_iter_seek(iterator, start, (nuint)from.Length);
            for (; count > 0 && rocksdb_iter_valid(iterator) != 0; count--)
            {
                byte* key = rocksdb_iter_key(iterator, out nuint keyLength);
                byte* value = rocksdb_iter_value(iterator, out nuint valueLength);
                digest.Add(new ReadOnlySpan<byte>(key, (int)keyLength), new ReadOnlySpan<byte>(value, (int)valueLength));
                rocksdb_iter_next(iterator);
            }

            rocksdb_iter_destroy(iterator);
            return digest.Sum;
        }

        public void Dispose()
        {
            rocksdb_writebatch_destroy(_batch);
            if (_indexed != 0)
                rocksdb_writebatch_wi_destroy(_indexed);
        }
    }

#pragma warning disable SYSLIB1054, CA2101 // the runtime's own marshalling is as fast here and shorter to read
    [DllImport(PeerLibrary.RocksDb)]
    private static extern nint rocksdb_cache_create_lru(nuint capacity);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_cache_destroy(nint cache);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern nint rocksdb_block_based_options_create();

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_block_based_options_destroy(nint options);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_block_based_options_set_block_cache(nint options, nint cache);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_block_based_options_set_filter_policy(nint options, nint policy);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern nint rocksdb_filterpolicy_create_bloom_full(double bitsPerKey);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern nint rocksdb_options_create();

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_options_destroy(nint options);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_options_set_create_if_missing(nint options, byte value);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_options_set_block_based_table_factory(nint options, nint tables);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_options_set_compression(nint options, int kind);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_options_set_recycle_log_file_num(nint options, nuint files);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_options_increase_parallelism(nint options, int threads);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern nint rocksdb_writeoptions_create();

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_writeoptions_destroy(nint options);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_writeoptions_set_sync(nint options, byte value);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern nint rocksdb_readoptions_create();

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_readoptions_destroy(nint options);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_readoptions_set_snapshot(nint options, nint snapshot);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern nint rocksdb_create_snapshot(nint database);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_release_snapshot(nint database, nint snapshot);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern nint rocksdb_open(nint options, [MarshalAs(UnmanagedType.LPUTF8Str)] string path, out nint error);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_close(nint database);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern nint rocksdb_writebatch_create();

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_writebatch_destroy(nint batch);

    [DllImport(PeerLibrary.RocksDb), SuppressGCTransition]
    private static extern void rocksdb_writebatch_clear(nint batch);

    [DllImport(PeerLibrary.RocksDb), SuppressGCTransition]
    private static extern void rocksdb_writebatch_put(nint batch, byte* key, nuint keyLength, byte* value, nuint valueLength);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_write(nint database, nint options, nint batch, out nint error);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern nint rocksdb_writebatch_wi_create(nuint reserved, byte overwriteKeys);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_writebatch_wi_destroy(nint batch);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_writebatch_wi_clear(nint batch);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_writebatch_wi_put(nint batch, byte* key, nuint keyLength, byte* value, nuint valueLength);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern byte* rocksdb_writebatch_wi_get_from_batch_and_db(
        nint batch, nint database, nint options, byte* key, nuint keyLength, out nuint valueLength, out nint error);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_write_writebatch_wi(nint database, nint options, nint batch, out nint error);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_free(void* memory);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern nint rocksdb_get_pinned(nint database, nint options, byte* key, nuint keyLength, out nint error);

    [DllImport(PeerLibrary.RocksDb), SuppressGCTransition]
    private static extern byte* rocksdb_pinnableslice_value(nint slice, out nuint length);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_pinnableslice_destroy(nint slice);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern nint rocksdb_create_iterator(nint database, nint options);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_iter_destroy(nint iterator);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_iter_seek(nint iterator, byte* key, nuint keyLength);

    [DllImport(PeerLibrary.RocksDb), SuppressGCTransition]
    private static extern byte rocksdb_iter_valid(nint iterator);

    [DllImport(PeerLibrary.RocksDb), SuppressGCTransition]
    private static extern byte* rocksdb_iter_key(nint iterator, out nuint length);

    [DllImport(PeerLibrary.RocksDb), SuppressGCTransition]
    private static extern byte* rocksdb_iter_value(nint iterator, out nuint length);

    [DllImport(PeerLibrary.RocksDb)]
    private static extern void rocksdb_iter_next(nint iterator);
#pragma warning restore SYSLIB1054, CA2101
}
