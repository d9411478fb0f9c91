using System.IO.Compression;
using Treepie.Storage.Files;

namespace Treepie.Compression;

/// <summary>
/// The level of a stream, chosen by its beginning: the first of some that makes a sample of it smaller than so much of what gzip
/// at its best does, else the last. So what is promised of sizes holds for content that a quick level is bad at (very short
/// documents), and all other content keeps the quick one. Costs some hundredths of a second, once.
/// </summary>
/// <param name="Choices">Levels, the quickest first; with one nothing is tried.</param>
/// <param name="MostOfGzip">Greatest share of gzip's length that is good enough.</param>
internal sealed record ZstdLevels(IReadOnlyList<int> Choices, double MostOfGzip)
{
    /// <summary>Bytes that are tried: enough to tell levels apart, and compressed in no time.</summary>
    public const int SampleBytes = 1 << 20;

    /// <summary>Less than this says nothing, and whatever is chosen saves nothing.</summary>
    private const int LeastBytes = 64 * 1024;

    /// <summary>A level whatever comes.</summary>
    public static ZstdLevels Only(int level) => new([level], 1);

    /// <summary>The level for content that begins so.</summary>
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
