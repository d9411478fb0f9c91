using Treepie.Compression;

namespace Treepie.Store;

/// <summary>A dictionary of bodies. Thread-safe.</summary>
/// <param name="Number">Its number, which follows from its bytes.</param>
/// <param name="Zstd">Itself.</param>
/// <param name="Frames">What works with it.</param>
internal sealed record BodyDictionary(uint Number, ZstdDictionary Zstd, ZstdFrames Frames)
{
    /// <summary>Compresses; gives the bytes written, 0 where they do not fit.</summary>
    public int Compress(ReadOnlySpan<byte> source, Span<byte> destination) => Frames.Compress(Zstd, source, destination);

    /// <summary>Decompresses into room of exactly the length of what was compressed; false where it is no such frame.</summary>
    public bool TryDecompress(ReadOnlySpan<byte> source, Span<byte> destination) =>
        Frames.TryDecompress(Zstd, source, destination);
}
