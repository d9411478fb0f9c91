using System.Runtime.InteropServices;
using System.Text;

namespace Treepie.Bench.Peers;

/// <summary>
/// A connection to a SQLite database, in WAL mode with full syncs unless told otherwise. The machine's own library, called
/// directly.
/// </summary>
internal sealed class Sqlite : IDisposable
{
    private const string Library = PeerLibrary.Sqlite;
    private const int Row = 100, Done = 101;
    private const int ReadWriteCreate = 0x6, NoMutex = 0x8000, FullMutex = 0x10000;
    private const int BusyMs = 60_000;
    private static readonly nint _transient = -1;
    private readonly nint _connection;

    /// <summary>
    /// Opens or creates a database file; a connection that is not shared belongs to one thread at a time and takes no lock.
    /// </summary>
    public Sqlite(string path, bool isShared = true)
    {
        Check(sqlite3_open_v2(path, out _connection, ReadWriteCreate | (isShared ? FullMutex : NoMutex), 0));
        Check(sqlite3_busy_timeout(_connection, BusyMs));
        Execute("pragma journal_mode=wal");
        Execute("pragma synchronous=full");
        Execute("pragma cache_size=-262144");
    }

    /// <summary>Whether the library is on this machine.</summary>
    public static bool IsPresent => PeerLibrary.IsPresent(Library);

    /// <summary>The library's version.</summary>
    public static string Version => Marshal.PtrToStringUTF8(sqlite3_libversion()) ?? "";

    /// <summary>Rows changed since the connection was opened.</summary>
    public int TotalChanges => sqlite3_total_changes(_connection);

    /// <summary>Runs statements without results.</summary>
    public void Execute(string sql) => Check(sqlite3_exec(_connection, sql, 0, 0, 0));

    /// <summary>Prepares a statement.</summary>
    public Statement Prepare(string sql)
    {
        Check(sqlite3_prepare_v2(_connection, sql, -1, out nint handle, 0));
        return new Statement(this, handle);
    }

    /// <inheritdoc/>
    public void Dispose() => Check(sqlite3_close_v2(_connection));

    private void Check(int result)
    {
        if (result is not (0 or Row or Done))
            throw new InvalidOperationException($"SQLite says {result}: {Marshal.PtrToStringUTF8(sqlite3_errmsg(_connection))}");
    }

    /// <summary>A prepared statement, used again and again.</summary>
    internal sealed class Statement(Sqlite owner, nint handle) : IDisposable
    {
        /// <summary>Sets a text parameter, from 1.</summary>
        public Statement Bind(int index, ReadOnlySpan<byte> utf8)
        {
            owner.Check(sqlite3_bind_text(handle, index, in MemoryMarshal.GetReference(utf8), utf8.Length, _transient));
            return this;
        }

        /// <summary>Sets a text parameter, from 1.</summary>
        public Statement Bind(int index, string text) => Bind(index, Encoding.UTF8.GetBytes(text));

        /// <summary>Sets a number, from 1.</summary>
        public Statement Bind(int index, long value)
        {
            owner.Check(sqlite3_bind_int64(handle, index, value));
            return this;
        }

        /// <summary>Sets a parameter of bytes, from 1, by copying them.</summary>
        public Statement BindBlob(int index, ReadOnlySpan<byte> bytes)
        {
            owner.Check(sqlite3_bind_blob(handle, index, in MemoryMarshal.GetReference(bytes), bytes.Length, _transient));
            return this;
        }

        /// <summary>Sets a parameter of bytes, from 1, that do not move until the statement has run.</summary>
        public Statement BindPinned(int index, ReadOnlySpan<byte> pinned)
        {
            owner.Check(sqlite3_bind_blob(handle, index, in MemoryMarshal.GetReference(pinned), pinned.Length, 0));
            return this;
        }

        /// <summary>Goes to the next row; false after the last, and the statement is ready to run again.</summary>
        public bool Step()
        {
            int result = sqlite3_step(handle);
            if (result == Row)
                return true;
            owner.Check(result);
            owner.Check(sqlite3_reset(handle));
            return false;
        }

        /// <summary>Ends the current run.</summary>
        public void Reset() => owner.Check(sqlite3_reset(handle));

        /// <summary>Bytes of a text column of the current row, from 0.</summary>
        public unsafe ReadOnlySpan<byte> Text(int column)
        {
            nint text = sqlite3_column_text(handle, column);
            return new ReadOnlySpan<byte>((void*)text, sqlite3_column_bytes(handle, column));
        }

        /// <summary>Bytes of a column of the current row, from 0.</summary>
        public unsafe ReadOnlySpan<byte> Blob(int column)
        {
            nint bytes = sqlite3_column_blob(handle, column);
            return new ReadOnlySpan<byte>((void*)bytes, sqlite3_column_bytes(handle, column));
        }

        /// <summary>A number of the current row, from 0.</summary>
        public long Long(int column) => sqlite3_column_int64(handle, column);

        /// <inheritdoc/>
        public void Dispose() => owner.Check(sqlite3_finalize(handle));
    }

#pragma warning disable SYSLIB1054, CA2101 // the runtime's own marshalling is as fast here and shorter to read
    [DllImport(Library)]
    private static extern int sqlite3_open_v2(
        [MarshalAs(UnmanagedType.LPUTF8Str)] string path, out nint connection, int flags, nint files);

    [DllImport(Library)]
    private static extern int sqlite3_busy_timeout(nint connection, int milliseconds);

    [DllImport(Library)]
    private static extern int sqlite3_total_changes(nint connection);

    [DllImport(Library)]
    private static extern int sqlite3_close_v2(nint connection);

    [DllImport(Library)]
    private static extern int sqlite3_exec(
        nint connection, [MarshalAs(UnmanagedType.LPUTF8Str)] string sql, nint callback, nint state, nint error);

    [DllImport(Library)]
    private static extern int sqlite3_prepare_v2(
        nint connection, [MarshalAs(UnmanagedType.LPUTF8Str)] string sql, int length, out nint statement, nint tail);

    [DllImport(Library)]
    private static extern int sqlite3_bind_text(nint statement, int index, in byte text, int length, nint destructor);

    [DllImport(Library)]
    private static extern int sqlite3_bind_int64(nint statement, int index, long value);

    [DllImport(Library), SuppressGCTransition]
    private static extern int sqlite3_bind_blob(nint statement, int index, in byte bytes, int length, nint destructor);

    [DllImport(Library), SuppressGCTransition]
    private static extern nint sqlite3_column_blob(nint statement, int column);

    [DllImport(Library)]
    private static extern int sqlite3_step(nint statement);

    [DllImport(Library)]
    private static extern int sqlite3_reset(nint statement);

    [DllImport(Library)]
    private static extern int sqlite3_finalize(nint statement);

    [DllImport(Library)]
    private static extern nint sqlite3_column_text(nint statement, int column);

    [DllImport(Library), SuppressGCTransition]
    private static extern int sqlite3_column_bytes(nint statement, int column);

    [DllImport(Library)]
    private static extern long sqlite3_column_int64(nint statement, int column);

    [DllImport(Library)]
    private static extern nint sqlite3_errmsg(nint connection);

    [DllImport(Library)]
    private static extern nint sqlite3_libversion();
#pragma warning restore SYSLIB1054, CA2101
}
