using System.IO.Compression;
using Treepie.Storage.Files;

namespace Treepie.Compression;

/// <summary>
/// Chooses the compression level of a stream by its beginning: the first level that compresses a sample to at most a given
/// fraction of gzip's size, otherwise the last. This keeps the promised size for content that a fast level compresses badly (very
/// short documents), and the fast level for all other content. Costs a few hundredths of a second, once.
/// </summary>
/// <param name="Choices">The levels, fastest first. With a single level, nothing is sampled.</param>
/// <param name="MostOfGzip">The maximum size, as a fraction of gzip's (<see cref="CompressionLevel.Optimal"/>).</param>
internal sealed record ZstdLevels(IReadOnlyList<int> Choices, double MostOfGzip)
{
    /// <summary>The size of a sample: enough to tell levels apart, and quick to compress.</summary>
    public const int SampleBytes = 1 << 20;

    /// <summary>Smaller samples are not conclusive, and their compression saves too little to matter.</summary>
    private const int LeastBytes = 64 * 1024;

    /// <summary>A fixed level.</summary>
    public static ZstdLevels Only(int level) => new([level], 1);

    /// <summary>Returns the level for content that begins with the sample.</summary>
    public int Choose(ZstdLibrary library, ReadOnlySpan<byte> sample)
    {
        if (Choices.Count == 1 || sample.Length < LeastBytes)
            return Choices[0];

        double most = MostOfGzip * GzipBytes(sample);
        foreach (int level in Choices)
            if (level == Choices[^1] || ZstdBytes(library, level, sample) <= most)
                return level;
        return Choices[^1];
    }

    private static long GzipBytes(ReadOnlySpan<byte> sample)
    {
        var counted = new Counter();
        using (var gzip = new GZipStream(counted, CompressionLevel.Optimal, leaveOpen: true))
            gzip.Write(sample);
        return counted.Bytes;
    }

    private static long ZstdBytes(ZstdLibrary library, int level, ReadOnlySpan<byte> sample)
    {
        int workers = 0;
        using ZstdContext context = library.CreateCompressor(level, ref workers);
        byte[] output = new byte[LeastBytes];
        long bytes = 0, left = 1;
        while (left > 0)
        {
            left = library.Compress(context, sample, output, ZstdOperation.End, out int consumed, out int produced);
            sample = sample[consumed..];
            bytes += produced;
        }

        return bytes;
    }

    private sealed class Counter : ForwardStream
    {
        public override bool CanWrite => true;

        public long Bytes { get; private set; }

        public override void Write(ReadOnlySpan<byte> buffer) => Bytes += buffer.Length;
    }
}
