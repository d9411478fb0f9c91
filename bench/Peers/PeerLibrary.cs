using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Treepie.Bench.Peers;

/// <summary>
/// Finds the libraries of other engines under the names that systems give them. One that is absent makes a row "absent", not an
/// error.
/// </summary>
internal static class PeerLibrary
{
    public const string Lmdb = "lmdb";
    public const string RocksDb = "rocksdb";
    public const string Sqlite = "sqlite3";

    /// <summary>Whether the library can be loaded here.</summary>
    public static bool IsPresent(string library) => TryLoad(library, out _);

    /// <summary>The version that the name of the loaded file ends with, or nothing.</summary>
    public static string VersionOfFile(string library)
    {
        if (!OperatingSystem.IsLinux() || !TryLoad(library, out _))
            return "";

        string mark = $"/lib{library}.so.";
        string? line = File.ReadLines("/proc/self/maps").FirstOrDefault(text => text.Contains(mark, StringComparison.Ordinal));
        return line is null ? "" : line[(line.IndexOf(mark, StringComparison.Ordinal) + mark.Length)..];
    }

    [ModuleInitializer]
    internal static void Register() => NativeLibrary.SetDllImportResolver(
        typeof(PeerLibrary).Assembly, static (name, _, _) => TryLoad(name, out nint handle) ? handle : 0);

    private static bool TryLoad(string library, out nint handle)
    {
        foreach (string name in Candidates(library))
            if (NativeLibrary.TryLoad(name, Assembly.GetExecutingAssembly(), DllImportSearchPath.SafeDirectories, out handle))
                return true;

        handle = 0;
        return false;
    }

    private static string[] Candidates(string library) => library switch
    {
        Lmdb => ["liblmdb.so.0", "liblmdb.so", "liblmdb.dylib", "lmdb.dll"],
        RocksDb =>
            ["librocksdb.so.7.8", "librocksdb.so", "librocksdb.so.8", "librocksdb.so.9", "librocksdb.dylib", "rocksdb.dll"],
        Sqlite => ["libsqlite3.so.0", "libsqlite3.so", "libsqlite3.dylib", "sqlite3.dll"],
        _ => [],
    };
}
