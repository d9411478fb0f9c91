using System.Runtime.InteropServices;
using ZstdSharp;
using ZstdSharp.Unsafe;

namespace Treepie.Compression;

/// <summary>
/// What texts of one kind have in common, trained on some of them (COVER: Liao, Petri, Moffat, Wirth, WWW 2016), so that each
/// can be compressed by itself and is small nevertheless: see <see cref="ZstdFrames"/>. Thread-safe; its memory goes with its
/// last user.
/// </summary>
internal sealed unsafe class ZstdDictionary : SafeHandle
{
    /// <summary>Bytes of a dictionary: more make frames hardly smaller, and memory to look through larger.</summary>
    public const int MostBytes = 64 * 1024;

    private const int Level = 3;
    private const string NoMemory = "zstd could not get memory for a dictionary.";

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

    /// <summary>For decompressing; who uses it keeps this alive.</summary>
    public ZSTD_DDict_s* Decompressing => (ZSTD_DDict_s*)handle;

    /// <summary>
    /// For compressing. It is the larger of the two and is made on first use: most dictionaries are only read with.
    /// </summary>
    public ZSTD_CDict_s* Compressing
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

    /// <inheritdoc/>
    protected override bool ReleaseHandle()
    {
        Methods.ZSTD_freeCDict(_compressing);
        Methods.ZSTD_freeDDict(Decompressing);
        return true;
    }
}
