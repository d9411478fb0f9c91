using Treepie.Compression;
using Treepie.Tests.Support;

namespace Treepie.Documents.Tests.Compression;

/// <summary>zstd, streaming both ways, in managed code and by the library of the system where there is one.</summary>
public abstract class ZstdTests
{
    private protected abstract ZstdLibrary Library { get; }

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(0, 1, 0)]
    [InlineData(1, 1, 0)]
    [InlineData(131_072, 1, 1)]
    [InlineData(3_000_000, 1, 2)]
    [InlineData(3_000_000, 7, 0)]
    public async Task What_was_compressed_comes_back(int length, int level, int workers)
    {
        var random = new Random(Seed.Next());
        byte[] content = Content(length, random), compressed = await CompressAsync(content, level, workers);
        Assert.True(compressed.AsSpan().StartsWith(ZstdLibrary.Magic));
        Assert.Equal(content, await DecompressAsync(compressed));
        Assert.Equal(content, Decompress(compressed, random));
    }

    [Fact]
    public async Task Frames_behind_each_other_are_one_content()
    {
        byte[] one = Content(200_000, new Random(1)), two = Content(5, new Random(2));
        byte[] first = await CompressAsync(one, 1, 0),
            empty = await CompressAsync([], 1, 0),
            last = await CompressAsync(two, 1, 0);
        byte[] both = [.. first, .. empty, .. last];
        byte[] content = [.. one, .. two];
        Assert.Equal(content, await DecompressAsync(both));
    }

    [Fact]
    public async Task Every_truncation_and_flip_is_an_error()
    {
        byte[] content = Content(50_000, new Random(3)), compressed = await CompressAsync(content, 1, 0);
        for (int length = 0; length < compressed.Length; length += length < 20 || length > compressed.Length - 20 ? 1 : 97)
            Assert.Contains(
                "cut off", (await Assert.ThrowsAsync<InvalidDataException>(() => DecompressAsync(compressed[..length]))).Message,
                StringComparison.Ordinal);
        for (int at = 4; at < compressed.Length; at += at > compressed.Length - 5 ? 1 : 61)
        {
            byte[] damaged = [.. compressed];
            damaged[at] ^= 4;
            await Assert.ThrowsAsync<InvalidDataException>(() => DecompressAsync(damaged));
        }
    }

    [Fact]
    public async Task A_writer_that_was_broken_off_leaves_a_frame_without_an_end()
    {
        var output = new MemoryStream();
        await using (var zstd = new ZstdWriteStream(output, Library, ZstdLevels.Only(1), 1))
            await zstd.WriteAsync(Content(2_000_000, new Random(4)), Cancel);
        await Assert.ThrowsAsync<InvalidDataException>(() => DecompressAsync(output.ToArray()));
    }

    [Fact]
    public void Threads_that_theLibrary_has_not_are_not_claimed()
    {
        using var asked = new ZstdWriteStream(Stream.Null, Library, ZstdLevels.Only(1), 2);
        using var none = new ZstdWriteStream(Stream.Null, Library, ZstdLevels.Only(1), 0);
        Assert.True(asked.Workers is 0 or 2);
        Assert.Equal(0, none.Workers);
    }

    [Fact]
    public async Task The_level_is_the_quickest_that_keeps_what_is_promised_of_sizes()
    {
        var random = new Random(Seed.Next());
        byte[] content = Content(3_000_000, random);
        double share = Share(content, 1);
        Assert.Equal(1, await LevelOf(new ZstdLevels([1, 9], share * 1.01), content));
        Assert.Equal(9, await LevelOf(new ZstdLevels([1, 9], share * 0.99), content));
        Assert.Equal(19, await LevelOf(new ZstdLevels([1, 3, 19], 0.0001), content)); // what nothing reaches: the last
        Assert.Equal(1, await LevelOf(new ZstdLevels([1, 19], 0.0001), content[..30_000])); // too little to tell
        Assert.Equal(1, await LevelOf(new ZstdLevels([1, 19], 0.0001), []));
    }

    /// <summary>Writes in pieces that do and do not end with the sample, and reads it back.</summary>
    private async Task<int> LevelOf(ZstdLevels levels, byte[] content)
    {
        var output = new MemoryStream();
        await using var zstd = new ZstdWriteStream(output, Library, levels, 1);
        foreach (byte[] piece in content.Chunk(400_000))
        {
            await zstd.WriteAsync(piece.AsMemory(0, piece.Length / 2), Cancel);
            zstd.Write(piece.AsSpan(piece.Length / 2));
        }

        await zstd.CompleteAsync(Cancel);
        byte[] back = await DecompressAsync(output.ToArray());
        Assert.True(content.AsSpan().SequenceEqual(back));
        return zstd.Level;
    }

    /// <summary>How a level does with the beginning, against gzip.</summary>
    private double Share(byte[] content, int level)
    {
        byte[] sample = content[..ZstdLevels.SampleBytes];
        var gzip = new MemoryStream();
        using (var stream = new System.IO.Compression.GZipStream(
            gzip, System.IO.Compression.CompressionLevel.Optimal, leaveOpen: true))
            stream.Write(sample);
        return (double)CompressAsync(sample, level, 0).GetAwaiter().GetResult().Length / gzip.Length;
    }

    private protected static byte[] Content(int length, Random random)
    {
        byte[] content = new byte[length];
        for (int i = 0; i < length; i++)
            content[i] = (byte)"abcdefgh {}\":,0123456789"[random.Next(random.Next(2) == 0 ? 4 : 24)];
        return content;
    }

    private Task<byte[]> CompressAsync(byte[] content, int level, int workers) => CompressAsync(content, level, workers, Library);

    private protected static async Task<byte[]> CompressAsync(byte[] content, int level, int workers, ZstdLibrary library)
    {
        var output = new MemoryStream();
        await using var zstd = new ZstdWriteStream(output, library, ZstdLevels.Only(level), workers);
        await zstd.WriteAsync(content.AsMemory(0, content.Length / 2), Cancel);
        zstd.Write(content.AsSpan(content.Length / 2));
        await zstd.CompleteAsync(Cancel);
        return output.ToArray();
    }

    private Task<byte[]> DecompressAsync(byte[] compressed) => DecompressAsync(compressed, Library);

    private protected static async Task<byte[]> DecompressAsync(byte[] compressed, ZstdLibrary library)
    {
        var output = new MemoryStream();
        await using var zstd = new ZstdReadStream(new MemoryStream(compressed), library);
        await zstd.CopyToAsync(output, Cancel);
        return output.ToArray();
    }

    private byte[] Decompress(byte[] compressed, Random random)
    {
        var output = new MemoryStream();
        using var zstd = new ZstdReadStream(new MemoryStream(compressed), Library);
        byte[] buffer = new byte[200_000];
        for (int read; (read = zstd.Read(buffer.AsSpan(0, random.Next(1, buffer.Length)))) > 0;)
            output.Write(buffer, 0, read);
        return output.ToArray();
    }
}
