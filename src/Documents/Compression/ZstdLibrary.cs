using System.Runtime.InteropServices;
using System.Text;

namespace Treepie.Compression;

/// <summary>
/// Front door of the room: the zstd library of the system (libzstd 1.4 or later), bound at run time. All of it that is used stands here; whoever wants another
/// implementation replaces this class and the two streams above it. Thread-safe.
/// </summary>
/// <remarks>
/// Functions are looked up in the loaded library, not declared as imports: the library has another file name on every system, an import knows one, and the hook that would
/// map it can be set once in a process only, which is not this library's to take. It works the same in natively compiled programs.
/// </remarks>
internal sealed unsafe class ZstdLibrary
{
    /// <summary>Largest window that is decompressed: 128 MiB, what the library's own tool takes. What asks for more was made to exhaust memory.</summary>
    public const int MaxWindowLog = 27;

    /// <summary>
    /// Bytes that a thread compresses at once. The library's own choice is four windows, 8 MiB, of which it keeps three for two threads, and as much of output; half of it with more of the window before it
    /// known to each job (<see cref="JobOverlap"/>) is as small in the end.
    /// </summary>
    public const int JobBytes = 4 << 20;

    /// <summary>Half a window of what comes before a job is read into it first: 9 would be all, 6 (an eighth) is what the library takes.</summary>
    private const int JobOverlap = 8;

    private const int CompressionLevel = 100, ChecksumFlag = 201, WorkerCount = 400, JobSize = 401, OverlapLog = 402, DecompressionWindowLogMax = 100;

    private static readonly Lazy<ZstdLibrary> s_ofSystem = new(() => new ZstdLibrary(NamesOfSystem()));

    private readonly delegate* unmanaged[Cdecl]<nuint, uint> _isError;
    private readonly delegate* unmanaged[Cdecl]<nuint, byte*> _errorName;
    private readonly delegate* unmanaged[Cdecl]<nint> _createCompressor;
    private readonly delegate* unmanaged[Cdecl]<nint, nuint> _freeCompressor;
    private readonly delegate* unmanaged[Cdecl]<nint, int, int, nuint> _setCompressor;
    private readonly delegate* unmanaged[Cdecl]<nint, ZstdBuffer*, ZstdBuffer*, int, nuint> _compress;
    private readonly delegate* unmanaged[Cdecl]<nint> _createDecompressor;
    private readonly delegate* unmanaged[Cdecl]<nint, nuint> _freeDecompressor;
    private readonly delegate* unmanaged[Cdecl]<nint, int, int, nuint> _setDecompressor;
    private readonly delegate* unmanaged[Cdecl]<nint, ZstdBuffer*, ZstdBuffer*, nuint> _decompress;

    /// <summary>Loads the first of these files that is there.</summary>
    /// <exception cref="BackupException">None is, or what is there lacks a function; the message has the remedy.</exception>
    internal ZstdLibrary(params IReadOnlyList<string> names)
    {
        nint library = 0;
        foreach (string name in names)
            if (NativeLibrary.TryLoad(name, typeof(ZstdLibrary).Assembly, null, out library))
                break;
        if (library == 0)
        {
            throw new BackupException(
                BackupFault.ZstdMissing,
                $"The zstd library is not on this system (looked for {string.Join(", ", names)}). Install it (Debian and Ubuntu: libzstd1; macOS: brew install zstd; Windows: zstd.dll beside the program), or use gzip.");
        }

        nint Function(string name) => NativeLibrary.TryGetExport(library, name, out nint address)
            ? address
            : throw new BackupException(BackupFault.ZstdMissing, $"The zstd library of this system lacks '{name}': it is older than 1.4. Install a newer one, or use gzip.");

        _isError = (delegate* unmanaged[Cdecl]<nuint, uint>)Function("ZSTD_isError");
        _errorName = (delegate* unmanaged[Cdecl]<nuint, byte*>)Function("ZSTD_getErrorName");
        _createCompressor = (delegate* unmanaged[Cdecl]<nint>)Function("ZSTD_createCCtx");
        _freeCompressor = (delegate* unmanaged[Cdecl]<nint, nuint>)Function("ZSTD_freeCCtx");
        _setCompressor = (delegate* unmanaged[Cdecl]<nint, int, int, nuint>)Function("ZSTD_CCtx_setParameter");
        _compress = (delegate* unmanaged[Cdecl]<nint, ZstdBuffer*, ZstdBuffer*, int, nuint>)Function("ZSTD_compressStream2");
        _createDecompressor = (delegate* unmanaged[Cdecl]<nint>)Function("ZSTD_createDCtx");
        _freeDecompressor = (delegate* unmanaged[Cdecl]<nint, nuint>)Function("ZSTD_freeDCtx");
        _setDecompressor = (delegate* unmanaged[Cdecl]<nint, int, int, nuint>)Function("ZSTD_DCtx_setParameter");
        _decompress = (delegate* unmanaged[Cdecl]<nint, ZstdBuffer*, ZstdBuffer*, nuint>)Function("ZSTD_decompressStream");
    }

    /// <summary>The library of this system.</summary>
    /// <exception cref="BackupException">There is none; the message has the remedy.</exception>
    public static ZstdLibrary OfSystem => s_ofSystem.Value;

    /// <summary>What begins a frame.</summary>
    public static ReadOnlySpan<byte> Magic => [0x28, 0xB5, 0x2F, 0xFD];

    /// <summary>A compressor. <paramref name="workers"/> is what came of the number of threads that was asked for: 0 where the library has none.</summary>
    public ZstdContext CreateCompressor(int level, ref int workers)
    {
        var context = new ZstdContext(_createCompressor(), this, compresses: true);
        try
        {
            Check(_setCompressor(context.Address, CompressionLevel, level));
            Check(_setCompressor(context.Address, ChecksumFlag, 1));
            if (workers > 0 && _isError(_setCompressor(context.Address, WorkerCount, workers)) != 0)
                workers = 0; // built without threads: it says so, and goes on with one
            if (workers > 0)
            {
                Check(_setCompressor(context.Address, JobSize, JobBytes));
                Check(_setCompressor(context.Address, OverlapLog, JobOverlap));
            }

            return context;
        }
        catch
        {
            context.Dispose();
            throw;
        }
    }

    /// <summary>Sets the level of a compressor that has compressed nothing yet.</summary>
    public void SetLevel(ZstdContext context, int level) => Check(_setCompressor(context.Address, CompressionLevel, level));

    /// <summary>Sets the number of threads of a compressor that has compressed nothing yet, and gives it.</summary>
    public int SetWorkers(ZstdContext context, int workers)
    {
        _ = _setCompressor(context.Address, WorkerCount, workers); // refused only where there are none
        return workers;
    }

    /// <summary>A decompressor that takes windows up to <see cref="MaxWindowLog"/>.</summary>
    public ZstdContext CreateDecompressor()
    {
        var context = new ZstdContext(_createDecompressor(), this, compresses: false);
        Check(_setDecompressor(context.Address, DecompressionWindowLogMax, MaxWindowLog));
        return context;
    }

    /// <summary>Goes on compressing; gives what is still inside when <paramref name="operation"/> asks for it to come out.</summary>
    public long Compress(ZstdContext context, ReadOnlySpan<byte> input, Span<byte> output, ZstdOperation operation, out int consumed, out int produced)
    {
        fixed (byte* source = input, destination = output)
        {
            var from = new ZstdBuffer(source, (nuint)input.Length);
            var to = new ZstdBuffer(destination, (nuint)output.Length);
            nuint left = Check(_compress(context.Address, &to, &from, (int)operation));
            (consumed, produced) = ((int)from.Position, (int)to.Position);
            return (long)left;
        }
    }

    /// <summary>Goes on decompressing; gives 0 when a frame is at its end.</summary>
    public long Decompress(ZstdContext context, ReadOnlySpan<byte> input, Span<byte> output, out int consumed, out int produced)
    {
        fixed (byte* source = input, destination = output)
        {
            var from = new ZstdBuffer(source, (nuint)input.Length);
            var to = new ZstdBuffer(destination, (nuint)output.Length);
            nuint wanted = Check(_decompress(context.Address, &to, &from));
            (consumed, produced) = ((int)from.Position, (int)to.Position);
            return (long)wanted;
        }
    }

    internal void Free(nint context, bool compresses) => _ = compresses ? _freeCompressor(context) : _freeDecompressor(context);

    private static string[] NamesOfSystem() =>
        OperatingSystem.IsWindows() ? ["zstd.dll", "libzstd.dll"]
        : OperatingSystem.IsMacOS() ? ["libzstd.1.dylib", "/opt/homebrew/lib/libzstd.1.dylib", "/usr/local/lib/libzstd.1.dylib"]
        : ["libzstd.so.1"];

    private nuint Check(nuint result)
    {
        if (_isError(result) == 0)
            return result;

        byte* name = _errorName(result);
        string text = name == null ? "unknown error" : Encoding.ASCII.GetString(MemoryMarshal.CreateReadOnlySpanFromNullTerminated(name));
        throw new InvalidDataException($"zstd: {text}");
    }

    /// <summary>A buffer as the library takes it, for both directions.</summary>
    private struct ZstdBuffer(byte* start, nuint length)
    {
        public byte* Start = start;
        public nuint Length = length;
        public nuint Position;
    }
}
