using System.Runtime.InteropServices;
using ZstdSharp;
using ZstdSharp.Unsafe;

namespace Treepie.Compression;

/// <summary>
/// What texts of one kind have in common, trained on some of them (COVER: Liao, Petri, Moffat, Wirth, WWW 2016), so that each
/// can be compressed by itself and is small nevertheless. Frames have no magic number, length, dictionary number or checksum:
/// who keeps them knows these. Thread-safe; its memory goes with its last user.
/// </summary>
internal sealed unsafe class ZstdDictionary : SafeHandle
{
    /// <summary>Bytes of a dictionary: more make frames hardly smaller, and memory to look through larger.</summary>
    public const int MostBytes = 64 * 1024;

    private const int Level = 3, Magicless = 1;
    private const string NoMemory = "zstd could not get memory for a dictionary.";

    /// <summary>States kept for the next caller; there are more while more are at work.</summary>
    private const int MostIdle = 16;

    private readonly State?[] _idle = new State?[MostIdle];
    private readonly Lock _lock = new();
    private readonly byte[] _bytes;
    private ZSTD_CDict_s* _compressing;

    /// <summary>Makes ready what <see cref="Train"/> gave.</summary>
    public ZstdDictionary(ReadOnlySpan<byte> bytes)
        : base(0, ownsHandle: true)
    {
        _bytes = bytes.ToArray();
        fixed (byte* source = bytes)
            SetHandle((nint)Methods.ZSTD_createDDict(source, (nuint)bytes.Length));
        if (IsInvalid)
            throw new InsufficientMemoryException(NoMemory);
    }

    /// <inheritdoc/>
    public override bool IsInvalid => handle == 0;

    private ZSTD_DDict_s* Decompressing => (ZSTD_DDict_s*)handle;

    /// <summary>Larger than the other one, and made by the first use: most dictionaries are read with alone.</summary>
    private ZSTD_CDict_s* Compressing
    {
        get
        {
            lock (_lock)
            {
                if (_compressing == null)
                    fixed (byte* source = _bytes)
                        _compressing = Methods.ZSTD_createCDict(source, (nuint)_bytes.Length, Level);
                return _compressing != null ? _compressing : throw new InsufficientMemoryException(NoMemory);
            }
        }
    }

    /// <summary>A dictionary for texts like these; empty where they are too few, or have nothing in common.</summary>
    public static byte[] Train(IReadOnlyList<byte[]> samples)
    {
        try
        {
            return DictBuilder.TrainFromBufferFastCover(samples, Level, MostBytes).ToArray();
        }
        catch (ZstdException)
        {
            return [];
        }
    }

    /// <summary>Compresses; gives the bytes written, 0 where they do not fit.</summary>
    public int Compress(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        State state = Take();
        try
        {
            fixed (byte* from = source, to = destination)
            {
                nuint length = Methods.ZSTD_compress2(
                    state.Compressor(Compressing), to, (nuint)destination.Length, from, (nuint)source.Length);
                return Methods.ZSTD_isError(length) ? 0 : (int)length;
            }
        }
        finally
        {
            Give(state);
        }
    }

    /// <summary>Decompresses into room of exactly the length of what was compressed; false where it is no such frame.</summary>
    public bool TryDecompress(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        State state = Take();
        try
        {
            fixed (byte* from = source, to = destination)
            {
                nuint length = Methods.ZSTD_decompressDCtx(
                    state.Decompressor(Decompressing), to, (nuint)destination.Length, from, (nuint)source.Length);
                return !Methods.ZSTD_isError(length) && length == (nuint)destination.Length;
            }
        }
        finally
        {
            Give(state);
        }
    }

    /// <inheritdoc/>
    protected override bool ReleaseHandle()
    {
        foreach (State? state in _idle)
            state?.Dispose();
        Methods.ZSTD_freeCDict(_compressing);
        Methods.ZSTD_freeDDict(Decompressing);
        return true;
    }

    private State Take()
    {
        ObjectDisposedException.ThrowIf(IsClosed, this);
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

    /// <summary>What one caller at a time needs; each half is made by its first use.</summary>
    private sealed class State : IDisposable
    {
        private ZSTD_CCtx_s* _compressor;
        private ZSTD_DCtx_s* _decompressor;

        ~State() => Free();

        public ZSTD_CCtx_s* Compressor(ZSTD_CDict_s* dictionary)
        {
            if (_compressor != null)
                return _compressor;
            _compressor = Methods.ZSTD_createCCtx();
            Set(ZSTD_cParameter.ZSTD_c_contentSizeFlag, 0);
            Set(ZSTD_cParameter.ZSTD_c_checksumFlag, 0);
            Set(ZSTD_cParameter.ZSTD_c_dictIDFlag, 0);
            Set(ZSTD_cParameter.ZSTD_c_experimentalParam2, Magicless);
            Check(Methods.ZSTD_CCtx_refCDict(_compressor, dictionary));
            return _compressor;
        }

        public ZSTD_DCtx_s* Decompressor(ZSTD_DDict_s* dictionary)
        {
            if (_decompressor != null)
                return _decompressor;
            _decompressor = Methods.ZSTD_createDCtx();
            Check(Methods.ZSTD_DCtx_setParameter(_decompressor, ZSTD_dParameter.ZSTD_d_experimentalParam1, Magicless));
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
