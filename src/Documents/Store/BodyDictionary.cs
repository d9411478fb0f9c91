using Treepie.Compression;

namespace Treepie.Store;

/// <summary>A compression dictionary of document bodies. Thread-safe.</summary>
/// <param name="Number">The number, derived from its bytes.</param>
/// <param name="Zstd">The dictionary.</param>
/// <param name="Frames">The compressor and decompressor.</param>
internal sealed record BodyDictionary(uint Number, ZstdDictionary Zstd, ZstdFrames Frames)
{
    /// <summary>Compresses; returns the number of bytes written, 0 if they do not fit.</summary>
    public int Compress(ReadOnlySpan<byte> source, Span<byte> destination) => Frames.Compress(Zstd, source, destination);

    /// <summary>
    /// Decompresses to a buffer of exactly the original length; returns false if the source is not a valid frame.
    /// </summary>
    public bool TryDecompress(ReadOnlySpan<byte> source, Span<byte> destination) =>
        Frames.TryDecompress(Zstd, source, destination);
}
