using System.Runtime.InteropServices;
using ZstdSharp;
using ZstdSharp.Unsafe;

namespace Treepie.Compression;

/// <summary>
/// A compression dictionary, trained on samples of similar texts (COVER: Liao, Petri, Moffat, Wirth, WWW 2016), so that each text
/// compresses well by itself: see <see cref="ZstdFrames"/>. Thread-safe; its memory is freed after its last use.
/// </summary>
internal sealed unsafe class ZstdDictionary : SafeHandle
{
    /// <summary>
    /// The maximum size of a dictionary. Larger ones hardly make frames smaller, but increase the memory to search.
    /// </summary>
    public const int MostBytes = 64 * 1024;

    private const int Level = 3;
    private const string NoMemory = "zstd could not get memory for a dictionary.";

    private readonly Lock _lock = new();
    private readonly byte[] _bytes;
    private ZSTD_CDict_s* _compressing;

    /// <summary>Creates a dictionary from the result of <see cref="Train"/>.</summary>
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

    /// <summary>The dictionary for decompression. The caller must keep this object alive while using it.</summary>
    public ZSTD_DDict_s* Decompressing => (ZSTD_DDict_s*)handle;

    /// <summary>
    /// The dictionary for compression. It is the larger of the two and created on first use, because most dictionaries are only
    /// used to decompress.
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

    /// <summary>
    /// Trains a dictionary on samples. Returns an empty array if they are too few or have too little in common.
    /// </summary>
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
