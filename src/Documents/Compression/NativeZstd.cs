using System.Runtime.InteropServices;
using System.Text;

namespace Treepie.Compression;

/// <summary>The zstd library of the system, bound at run time. Thread-safe.</summary>
/// <remarks>
/// Functions are resolved from the loaded library rather than declared as imports: the file name differs between systems, an
/// import has only one, and the hook that could map it can be set only once. This also works in natively compiled programs.
/// </remarks>
internal sealed unsafe class NativeZstd : ZstdLibrary
{
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

    private NativeZstd(nint library)
    {
        nint Function(string name) => NativeLibrary.GetExport(library, name);

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

    /// <summary>The library's file names on this system.</summary>
    public static IReadOnlyList<string> NamesOfSystem =>
        OperatingSystem.IsWindows() ? ["zstd.dll", "libzstd.dll"]
        : OperatingSystem.IsMacOS() ? ["libzstd.1.dylib", "/opt/homebrew/lib/libzstd.1.dylib", "/usr/local/lib/libzstd.1.dylib"]
        : ["libzstd.so.1"];

    /// <summary>
    /// Loads the first of these files that exists. Returns null if there is none, or if it is too old to have all functions.
    /// </summary>
    public static NativeZstd? TryLoad(params IReadOnlyList<string> names)
    {
        foreach (string name in names)
        {
            if (!NativeLibrary.TryLoad(name, typeof(NativeZstd).Assembly, null, out nint library))
                continue;

            try
            {
                return new NativeZstd(library);
            }
            catch (EntryPointNotFoundException)
            {
                NativeLibrary.Free(library);
            }
        }

        return null;
    }

    internal override void Free(nint context, bool compresses) =>
        _ = compresses ? _freeCompressor(context) : _freeDecompressor(context);

    private protected override nint NewCompressor() => _createCompressor();

    private protected override nint NewDecompressor() => _createDecompressor();

    private protected override nuint SetCompressor(nint context, int parameter, int value) =>
        _setCompressor(context, parameter, value);

    private protected override nuint SetDecompressor(nint context, int parameter, int value) =>
        _setDecompressor(context, parameter, value);

    private protected override nuint Compress(nint context, ZstdBuffer* output, ZstdBuffer* input, int operation) =>
        _compress(context, output, input, operation);

    private protected override nuint Decompress(nint context, ZstdBuffer* output, ZstdBuffer* input) =>
        _decompress(context, output, input);

    private protected override bool IsError(nuint result) => _isError(result) != 0;

    private protected override string ErrorName(nuint result)
    {
        byte* name = _errorName(result);
        return name == null
            ? "unknown error"
            : Encoding.ASCII.GetString(MemoryMarshal.CreateReadOnlySpanFromNullTerminated(name));
    }
}
