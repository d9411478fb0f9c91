using ZstdSharp.Unsafe;

namespace Treepie.Compression;

/// <summary>
/// Compresses and decompresses short texts with dictionaries, one frame each. Frames have no magic number, length, dictionary id
/// or checksum: the caller must store these. Contexts are pooled and reused with any dictionary. Thread-safe.
/// </summary>
internal sealed unsafe class ZstdFrames
{
    private const int Magicless = 1;

    /// <summary>
    /// The maximum number of pooled contexts, a few hundred KB each. More callers at a time create temporary ones.
    /// </summary>
    private const int MostIdle = 16;

    private readonly State?[] _idle = new State?[MostIdle];

    /// <summary>Compresses a text. Returns the number of bytes written, or 0 if they do not fit.</summary>
    public int Compress(ZstdDictionary dictionary, ReadOnlySpan<byte> source, Span<byte> destination)
    {
        State state = Take();
        try
        {
            fixed (byte* from = source, to = destination)
            {
                nuint length = Methods.ZSTD_compress2(
                    state.Compressor(dictionary.Compressing), to, (nuint)destination.Length, from, (nuint)source.Length);
                return Methods.ZSTD_isError(length) ? 0 : (int)length;
            }
        }
        finally
        {
            Give(state);
            GC.KeepAlive(dictionary);
        }
    }

    /// <summary>Decompresses into a buffer of exactly the original length. Returns false if the frame is not valid.</summary>
    public bool TryDecompress(ZstdDictionary dictionary, ReadOnlySpan<byte> source, Span<byte> destination)
    {
        State state = Take();
        try
        {
            fixed (byte* from = source, to = destination)
            {
                nuint length = Methods.ZSTD_decompressDCtx(
                    state.Decompressor(dictionary.Decompressing), to, (nuint)destination.Length, from, (nuint)source.Length);
                return !Methods.ZSTD_isError(length) && length == (nuint)destination.Length;
            }
        }
        finally
        {
            Give(state);
            GC.KeepAlive(dictionary);
        }
    }

    private State Take()
    {
        foreach (ref State? place in _idle.AsSpan())
            if (Volatile.Read(ref place) is not null && Interlocked.Exchange(ref place, null) is { } state)
                return state;
        return new State();
    }

    private void Give(State state)
    {
        foreach (ref State? place in _idle.AsSpan())
            if (Volatile.Read(ref place) is null && Interlocked.CompareExchange(ref place, state, null) is null)
                return;
        state.Dispose();
    }

    /// <summary>The contexts of one caller at a time, each created on first use.</summary>
    private sealed class State : IDisposable
    {
        private ZSTD_CCtx_s* _compressor;
        private ZSTD_DCtx_s* _decompressor;

        ~State() => Free();

        public ZSTD_CCtx_s* Compressor(ZSTD_CDict_s* dictionary)
        {
            if (_compressor == null)
            {
                _compressor = Methods.ZSTD_createCCtx();
                Set(ZSTD_cParameter.ZSTD_c_contentSizeFlag, 0);
                Set(ZSTD_cParameter.ZSTD_c_checksumFlag, 0);
                Set(ZSTD_cParameter.ZSTD_c_dictIDFlag, 0);
                Set(ZSTD_cParameter.ZSTD_c_experimentalParam2, Magicless);
            }

            // a previous frame that did not fit may be unfinished
            Check(Methods.ZSTD_CCtx_reset(_compressor, ZSTD_ResetDirective.ZSTD_reset_session_only));
            Check(Methods.ZSTD_CCtx_refCDict(_compressor, dictionary));
            return _compressor;
        }

        public ZSTD_DCtx_s* Decompressor(ZSTD_DDict_s* dictionary)
        {
            if (_decompressor == null)
            {
                _decompressor = Methods.ZSTD_createDCtx();
                Check(Methods.ZSTD_DCtx_setParameter(_decompressor, ZSTD_dParameter.ZSTD_d_experimentalParam1, Magicless));
            }

            Check(Methods.ZSTD_DCtx_reset(_decompressor, ZSTD_ResetDirective.ZSTD_reset_session_only));
            Check(Methods.ZSTD_DCtx_refDDict(_decompressor, dictionary));
            return _decompressor;
        }

        public void Dispose()
        {
            Free();
            GC.SuppressFinalize(this);
        }

        private void Set(ZSTD_cParameter parameter, int value) =>
            Check(Methods.ZSTD_CCtx_setParameter(_compressor, parameter, value));

        private static void Check(nuint result)
        {
            if (Methods.ZSTD_isError(result))
                throw new InvalidDataException($"zstd: {Methods.ZSTD_getErrorName(result)}");
        }

        private void Free()
        {
            _ = Methods.ZSTD_freeCCtx(_compressor);
            _ = Methods.ZSTD_freeDCtx(_decompressor);
            _compressor = null;
            _decompressor = null;
        }
    }
}
