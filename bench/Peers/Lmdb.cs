using System.Runtime.InteropServices;
using Treepie.Bench.Stores;

namespace Treepie.Bench.Peers;

/// <summary>
/// LMDB as its makers advise: one map for everything, its default two syncs per commit (<c>MDB_NOSYNC</c> where not durable),
/// read transactions reset and renewed instead of begun, cursors renewed with them.
/// </summary>
internal sealed unsafe class Lmdb : IKeyValueStore
{
    private const int NoSync = 0x10000, ReadOnly = 0x20000, NoThreadLocal = 0x200000;
    private const uint NoOverwrite = 0x10;
    private const int SetRange = 17, Next = 8;
    private const int KeyExists = -30799, NotFound = -30798;
    private const long MapBytes = 64L << 30; // address space only

    private readonly nint _environment;
    private readonly uint _database;

    public Lmdb(string directory, StoreSettings settings)
    {
        Directory.CreateDirectory(directory);
        Check(mdb_env_create(out _environment));
        Check(mdb_env_set_mapsize(_environment, unchecked((nuint)MapBytes)));
        Check(mdb_env_set_maxreaders(_environment, 512));
        Check(mdb_env_open(_environment, directory, NoThreadLocal | (settings.IsDurable ? 0u : NoSync), 0b110_100_100));
        Check(mdb_txn_begin(_environment, 0, 0, out nint transaction));
        Check(mdb_dbi_open(transaction, 0, 0, out _database));
        Check(mdb_txn_commit(transaction));
    }

    /// <summary>Name and version, and whether it is on this machine.</summary>
    public static StoreEngine Engine { get; } = new(
        PeerLibrary.IsPresent(PeerLibrary.Lmdb) ? $"LMDB {Version()}" : "LMDB", PeerLibrary.IsPresent(PeerLibrary.Lmdb),
        (path, settings) => new Lmdb(path, settings));

    public IKeyValueSession OpenSession() => new Session(this);

    public void Dispose() => mdb_env_close(_environment);

    private static string Version()
    {
        mdb_version(out int major, out int minor, out int patch);
        return $"{major}.{minor}.{patch}";
    }

    private static void Check(int result)
    {
        if (result != 0)
            throw new InvalidOperationException($"LMDB says {result}: {Marshal.PtrToStringUTF8(mdb_strerror(result))}");
    }

    private sealed class Session(Lmdb owner) : IKeyValueSession
    {
        private nint _reader;
        private nint _cursor;

        public void Write(Entries entries) => Put(entries, 0);

        public int PutIfAbsent(Entries entries) => Put(entries, NoOverwrite);

        public ulong Read(Entries keys)
        {
            BeginRead();
            var digest = default(Digest);
            for (int i = 0; i < keys.Count; i++)
            {
                ReadOnlySpan<byte> key = keys.Key(i);
                Value found = default, wanted = new(keys.AddressOf(key), key.Length);
                int result = mdb_get(_reader, owner._database, &wanted, &found);
                if (result == 0)
                    digest.Add(key, found.Bytes);
                else if (result != NotFound)
                    Check(result);
            }

            mdb_txn_reset(_reader);
            return digest.Sum;
        }

        public ulong ReadRange(ReadOnlySpan<byte> from, int count)
        {
            BeginRead();
            if (_cursor == 0)
                Check(mdb_cursor_open(_reader, owner._database, out _cursor));
            else
                Check(mdb_cursor_renew(_reader, _cursor));

            var digest = default(Digest);
            fixed (byte* start = from)
            {
                Value key = new(start, from.Length), value = default;
                int result = mdb_cursor_get(_cursor, &key, &value, SetRange);
                while (result == 0)
                {
                    digest.Add(key.Bytes, value.Bytes);
                    if (--count == 0)
                        break;
                    result = mdb_cursor_get(_cursor, &key, &value, Next);
                }
            }

            mdb_txn_reset(_reader);
            return digest.Sum;
        }

        public void Dispose()
        {
            if (_cursor != 0)
                mdb_cursor_close(_cursor);
            if (_reader != 0)
                mdb_txn_abort(_reader);
        }

        private void BeginRead()
        {
            if (_reader == 0)
                Check(mdb_txn_begin(owner._environment, 0, ReadOnly, out _reader));
            else
                Check(mdb_txn_renew(_reader));
        }

        private int Put(Entries entries, uint flags)
        {
            Check(mdb_txn_begin(owner._environment, 0, 0, out nint transaction));
            int added = 0;
            for (int i = 0; i < entries.Count; i++)
            {
                ReadOnlySpan<byte> key = entries.Key(i), value = entries.Value(i);
                Value native = new(entries.AddressOf(key), key.Length), data = new(entries.AddressOf(value), value.Length);
                int result = mdb_put(transaction, owner._database, &native, &data, flags);
                if (result == 0)
                    added++;
                else if (result != KeyExists)
                    Check(result);
            }

            Check(mdb_txn_commit(transaction));
            return added;
        }
    }

    /// <summary><c>MDB_val</c>.</summary>
    private readonly struct Value(byte* data, int length)
    {
        private readonly nuint _length = (nuint)length;
        private readonly byte* _data = data;

        public ReadOnlySpan<byte> Bytes => new(_data, (int)_length);
    }

#pragma warning disable SYSLIB1054, CA2101 // the runtime's own marshalling is as fast here and shorter to read
    [DllImport(PeerLibrary.Lmdb)]
    private static extern nint mdb_version(out int major, out int minor, out int patch);

    [DllImport(PeerLibrary.Lmdb)]
    private static extern nint mdb_strerror(int error);

    [DllImport(PeerLibrary.Lmdb)]
    private static extern int mdb_env_create(out nint environment);

    [DllImport(PeerLibrary.Lmdb)]
    private static extern int mdb_env_set_mapsize(nint environment, nuint size);

    [DllImport(PeerLibrary.Lmdb)]
    private static extern int mdb_env_set_maxreaders(nint environment, uint readers);

    [DllImport(PeerLibrary.Lmdb)]
    private static extern int mdb_env_open(
        nint environment, [MarshalAs(UnmanagedType.LPUTF8Str)] string path, uint flags, uint mode);

    [DllImport(PeerLibrary.Lmdb)]
    private static extern void mdb_env_close(nint environment);

    [DllImport(PeerLibrary.Lmdb)]
    private static extern int mdb_txn_begin(nint environment, nint parent, uint flags, out nint transaction);

    [DllImport(PeerLibrary.Lmdb)]
    private static extern int mdb_txn_commit(nint transaction);

    [DllImport(PeerLibrary.Lmdb)]
    private static extern void mdb_txn_abort(nint transaction);

    [DllImport(PeerLibrary.Lmdb)]
    private static extern int mdb_dbi_open(nint transaction, nint name, uint flags, out uint database);

    [DllImport(PeerLibrary.Lmdb)]
    private static extern int mdb_put(nint transaction, uint database, Value* key, Value* value, uint flags);

    [DllImport(PeerLibrary.Lmdb)]
    private static extern int mdb_cursor_open(nint transaction, uint database, out nint cursor);

    [DllImport(PeerLibrary.Lmdb)]
    private static extern void mdb_cursor_close(nint cursor);

    // Short calls that never wait need no change of the thread's state: the binding costs LMDB nothing that a C program would not
    // pay.
    [DllImport(PeerLibrary.Lmdb), SuppressGCTransition]
    private static extern int mdb_txn_renew(nint transaction);

    [DllImport(PeerLibrary.Lmdb), SuppressGCTransition]
    private static extern void mdb_txn_reset(nint transaction);

    [DllImport(PeerLibrary.Lmdb), SuppressGCTransition]
    private static extern int mdb_get(nint transaction, uint database, Value* key, Value* value);

    [DllImport(PeerLibrary.Lmdb), SuppressGCTransition]
    private static extern int mdb_cursor_renew(nint transaction, nint cursor);

    [DllImport(PeerLibrary.Lmdb), SuppressGCTransition]
    private static extern int mdb_cursor_get(nint cursor, Value* key, Value* value, int operation);
#pragma warning restore SYSLIB1054, CA2101
}
