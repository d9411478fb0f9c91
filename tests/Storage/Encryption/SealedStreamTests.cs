using System.Buffers.Binary;
using Treepie.Storage.Encryption;
using Treepie.Storage.Format;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Encryption;

/// <summary>
/// A sealed stream returns exactly what was written. Any other change is refused with a specific error.
/// </summary>
public sealed class SealedStreamTests : IDisposable
{
    private const int Chunk = SealedHeader.MinChunkBytes;
    private const int Frame = Chunk + SealedCipher.AddedBytes;
    private const int Header = SealedHeader.SizeBytes;

    private readonly EncryptionKey _key = EncryptionKey.FromBytes([.. Enumerable.Range(1, 32).Select(value => (byte)value)]);
    private readonly EncryptionKey _otherKey = EncryptionKey.FromBytes([.. Enumerable.Range(2, 32).Select(value => (byte)value)]);

    public void Dispose()
    {
        _key.Dispose();
        _otherKey.Dispose();
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(Chunk - 1)]
    [InlineData(Chunk)]
    [InlineData(Chunk + 1)]
    [InlineData(2 * Chunk)]
    [InlineData((3 * Chunk) + 777)]
    public async Task What_was_written_comes_back_whatever_its_length(int length)
    {
        byte[] content = Content(length, 1);
        byte[] stream = Seal(content);
        int chunks = Math.Max(1, (length + Chunk - 1) / Chunk);
        Assert.Equal(Header + length + (chunks * SealedCipher.AddedBytes), stream.Length);
        Assert.Equal(content, Open(stream));
        Assert.Equal(content, await OpenAsync(stream));
        byte[] key = new byte[32];
        _key.CopyTo(key);
        Assert.Equal(content, SealedReader.Open(stream, key, null));
    }

    [Fact]
    public async Task Writes_and_reads_of_any_size_make_no_difference()
    {
        var random = new Random(Seed.Next());
        byte[] content = Content(300_000, 2);
        var output = new MemoryStream();
        await using (var seal = new SealedWriteStream(output, _key, leaveOpen: true))
        {
            for (int at = 0; at < content.Length;)
            {
                int piece = Math.Min(random.Next(1, 100_000), content.Length - at);
                if (random.Next(2) == 0)
                    seal.Write(content.AsSpan(at, piece));
                else
                    await seal.WriteAsync(content.AsMemory(at, piece), TestContext.Current.CancellationToken);
                at += piece;
            }

            await seal.CompleteAsync(TestContext.Current.CancellationToken);
            Assert.Throws<InvalidOperationException>(() => seal.Write([1]));
        }

        byte[] back = new byte[content.Length];
        await using var open = new SealedReadStream(new TricklingStream(output.ToArray(), random), _key);
        for (int at = 0; at < back.Length;)
        {
            int most = Math.Min(random.Next(1, 70_000), back.Length - at);
            at += random.Next(2) == 0
                ? open.Read(back.AsSpan(at, most))
                : await open.ReadAsync(back.AsMemory(at, most), TestContext.Current.CancellationToken);
        }

        Assert.Equal(content, back);
        Assert.Equal((0, 0), (open.Read(new byte[10]), open.Read([])));
    }

    [Fact]
    public void A_passphrase_opens_what_it_sealed()
    {
        using EncryptionKey phrase = EncryptionKey.FromPassphrase("correct horse battery staple"),
            other = EncryptionKey.FromPassphrase("correct horse battery stable");
        var output = new MemoryStream();
        using (var seal = new SealedWriteStream(output, phrase, leaveOpen: true))
        {
            seal.Write("content"u8);
            seal.Complete();
        }

        Assert.Equal("content"u8.ToArray(), Open(output.ToArray(), phrase));
        Assert.Equal("content"u8.ToArray(), SealedReader.Open(output.ToArray(), null, "correct horse battery staple"));
        Assert.Contains(
            "another key", Assert.Throws<EncryptionKeyException>(() => Open(output.ToArray(), other)).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "a passphrase, and a key", Assert.Throws<EncryptionKeyException>(() => Open(output.ToArray(), _key)).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "and a passphrase was given", Assert.Throws<EncryptionKeyException>(() => Open(Seal([1]), phrase)).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_wrong_key_and_no_key_are_told_from_damage()
    {
        byte[] stream = Seal(Content(Chunk, 3));
        Assert.Contains(
            "another key", Assert.Throws<EncryptionKeyException>(() => Open(stream, _otherKey)).Message,
            StringComparison.Ordinal);
        Assert.Contains(
            "no key was given", Assert.Throws<EncryptionKeyException>(() => Open(stream, null)).Message,
            StringComparison.Ordinal);
        AssertFault(SealedFault.NotSealed, "{\"Docs\":[]}"u8.ToArray());
        AssertFault(SealedFault.NotSealed, []);
    }

    [Fact]
    public void A_flip_of_any_bit_of_the_header_is_damage_and_never_a_wrong_key()
    {
        byte[] stream = Seal([1, 2, 3]);
        for (int bit = 0; bit < Header * 8; bit++)
        {
            byte[] damaged = [.. stream];
            damaged[bit / 8] ^= (byte)(1 << (bit % 8));
            AssertFault(bit < 64 ? SealedFault.NotSealed : SealedFault.HeaderDamaged, damaged);
        }
    }

    [Fact]
    public void A_header_changed_with_its_checksum_put_right_is_refused()
    {
        byte[] stream = Seal(Content(Chunk * 2, 4));
        AssertFault(SealedFault.Newer, Forged(stream, 8, 2));
        AssertFault(SealedFault.Newer, Forged(stream, 10, 2));
        AssertFault(SealedFault.HeaderForged, Forged(stream, 13, 0x20)); // another chunk length: covered by the tag
        AssertFault(SealedFault.HeaderForged, Forged(stream, 15, 0x7F));
        AssertFault(SealedFault.HeaderForged, Forged(stream, 16, 9)); // an unknown key derivation
        AssertFault(SealedFault.HeaderForged, Forged(stream, 104, (byte)~stream[104]));
        foreach (int at in (int[])[24, 56, 88]) // salts and key check: same as a wrong key
            Assert.Throws<EncryptionKeyException>(() => Open(Forged(stream, at, (byte)~stream[at])));
    }

    [Fact]
    public void A_flip_anywhere_behind_the_header_is_refused_and_nothing_of_its_chunk_is_handed_out()
    {
        byte[] content = Content((2 * Chunk) + 100, 5), stream = Seal(content);
        for (int at = Header; at < stream.Length; at += at < Header + 40 || at > stream.Length - 40 ? 1 : 37)
        {
            byte[] damaged = [.. stream];
            damaged[at] ^= 0x10;
            int chunk = (at - Header) / Frame;
            (byte[] read, SealedStreamException fault) = OpenToFault(damaged);
            Assert.Equal(content[..(chunk * Chunk)], read);
            SealedFault expected = ((at - Header) % Frame) switch
            {
                >= 4 and < 8 => SealedFault.ChunkForeign,
                >= 8 and < 16 => SealedFault.ChunkMisplaced,
                _ => SealedFault.ChunkDamaged,
            };
            // A length that increased asks for more bytes than there are.
            Assert.True(
                fault.Fault == expected || fault.Fault == SealedFault.CutOff, $"byte {at}: {fault.Fault}, expected {expected}");
        }
    }

    [Fact]
    public void Every_truncation_at_and_beside_every_border_is_told_from_an_end()
    {
        byte[] content = Content((3 * Chunk) + 5, 6), stream = Seal(content);
        IEnumerable<int> borders =
        [
            0, 8, Header,
            .. Enumerable.Range(0, 4)
                .SelectMany(
                    chunk => (int[])
                    [
                        Header + (chunk * Frame), Header + (chunk * Frame) + 16, Header + (chunk * Frame) + 16 + Chunk
                    ]),
            stream.Length
        ];
        foreach (int length in borders.SelectMany(border => (int[])[border - 1, border, border + 1])
            .Where(length => length >= 8 && length < stream.Length)
            .Distinct())
        {
            (byte[] read, SealedStreamException fault) = OpenToFault(stream[..length]);
            Assert.Equal(SealedFault.CutOff, fault.Fault);
            Assert.Equal(content[..(Math.Max(0, length - Header) / Frame * Chunk)], read);
        }
    }

    [Fact]
    public void A_writer_that_was_broken_off_leaves_a_stream_without_an_end()
    {
        var output = new MemoryStream();
        using (var seal = new SealedWriteStream(output, _key, leaveOpen: true))
            seal.Write(Content(200_000, 7));
        AssertFault(SealedFault.CutOff, output.ToArray());
    }

    [Fact]
    public void Chunks_swapped_repeated_left_out_appended_or_of_another_stream_are_refused_each_by_its_name()
    {
        byte[] stream = Seal(Content((3 * Chunk) + 9, 8)), other = Seal(Content((3 * Chunk) + 9, 9));
        byte[] head = stream[..Header],
            first = Of(stream, 0),
            second = Of(stream, 1),
            third = Of(stream, 2),
            last = stream[(Header + (3 * Frame))..];

        AssertFault(SealedFault.ChunkMisplaced, [.. head, .. second, .. first, .. third, .. last]);
        AssertFault(SealedFault.ChunkMisplaced, [.. head, .. first, .. first, .. second, .. third, .. last]);
        AssertFault(SealedFault.ChunkMisplaced, [.. head, .. first, .. third, .. last]);
        AssertFault(SealedFault.ChunkMisplaced, [.. head, .. first, .. second, .. last]);
        AssertFault(SealedFault.CutOff, [.. head, .. first, .. second, .. third]);
        AssertFault(SealedFault.ChunkForeign, [.. head, .. first, .. Of(other, 1), .. third, .. last]);
        AssertFault(SealedFault.ChunkForeign, [.. other[..Header], .. first, .. second, .. third, .. last]);
        AssertFault(SealedFault.Appended, [.. stream, 0]);
        AssertFault(SealedFault.Appended, [.. stream, .. last]);
        AssertFault(SealedFault.Appended, [.. stream, .. other]);
    }

    [Fact]
    public void A_chunk_that_lies_about_its_place_or_stream_or_end_is_refused_by_its_tag()
    {
        byte[] stream = Seal(Content(3 * Chunk, 10)), other = Seal(Content(3 * Chunk, 11));
        byte[] swapped = [.. stream[..Header], .. Of(stream, 1), .. Of(stream, 0), .. Of(stream, 2)];
        BinaryPrimitives.WriteInt64LittleEndian(swapped.AsSpan(Header + 8), 0);
        AssertFault(SealedFault.ChunkDamaged, swapped);

        byte[] foreign = [.. stream[..Header], .. Of(stream, 0), .. Of(other, 1), .. Of(stream, 2)];
        stream.AsSpan(56, 4).CopyTo(foreign.AsSpan(Header + Frame + 4));
        AssertFault(SealedFault.ChunkDamaged, foreign);

        byte[] endsEarly = [.. stream[..(Header + Frame)]];
        endsEarly[Header + 3] |= 0x80;
        AssertFault(SealedFault.ChunkDamaged, endsEarly);

        byte[] goesOn = [.. stream];
        goesOn[Header + (2 * Frame) + 3] &= 0x7F;
        AssertFault(SealedFault.ChunkDamaged, goesOn);
    }

    [Fact]
    public void Two_streams_of_the_same_content_have_nothing_in_common()
    {
        byte[] content = new byte[Chunk];
        byte[] one = Seal(content), two = Seal(content);
        Assert.NotEqual(one[Header..], two[Header..]);
        Assert.NotEqual(one[24..88], two[24..88]);
    }

    [Fact]
    public void What_is_sealed_shows_nothing_of_its_content()
    {
        byte[] marker = "marker-5c1f"u8.ToArray();
        byte[] content = [.. Enumerable.Repeat(marker, 2_000).SelectMany(part => part)];
        Assert.True(content.AsSpan().IndexOf(marker) >= 0);
        Assert.True(Seal(content).AsSpan().IndexOf(marker) < 0);
    }

    private static byte[] Of(byte[] stream, int chunk) => stream[(Header + (chunk * Frame))..(Header + ((chunk + 1) * Frame))];

    private static byte[] Forged(byte[] stream, int at, byte value)
    {
        byte[] forged = [.. stream];
        forged[at] = value;
        BinaryPrimitives.WriteUInt32LittleEndian(
            forged.AsSpan(Header - 4), ~Crc32C.Append(uint.MaxValue, forged.AsSpan(0, Header - 4)));
        return forged;
    }

    private static byte[] Content(int length, int seed)
    {
        byte[] content = new byte[length];
        new Random(seed).NextBytes(content);
        return content;
    }

    private byte[] Seal(byte[] content)
    {
        var output = new MemoryStream();
        byte[] salts = new byte[64];
        System.Security.Cryptography.RandomNumberGenerator.Fill(salts);
        using (var seal = new SealedWriteStream(output, _key, salts, Chunk, leaveOpen: true))
        {
            seal.Write(content);
            seal.Complete();
        }

        return output.ToArray();
    }

    private byte[] Open(byte[] stream) => Open(stream, _key);

    private static byte[] Open(byte[] stream, EncryptionKey? key)
    {
        var output = new MemoryStream();
        using var open = new SealedReadStream(new MemoryStream(stream), key);
        open.CopyTo(output);
        return output.ToArray();
    }

    private async Task<byte[]> OpenAsync(byte[] stream)
    {
        var output = new MemoryStream();
        await using var open = new SealedReadStream(new MemoryStream(stream), _key);
        await open.CopyToAsync(output, TestContext.Current.CancellationToken);
        return output.ToArray();
    }

    private void AssertFault(SealedFault expected, byte[] stream) => Assert.Equal(expected, OpenToFault(stream).Fault.Fault);

    private (byte[] Read, SealedStreamException Fault) OpenToFault(byte[] stream)
    {
        var output = new MemoryStream();
        using var open = new SealedReadStream(new MemoryStream(stream), _key);
        SealedStreamException fault = Assert.Throws<SealedStreamException>(() => open.CopyTo(output));
        Assert.Same(fault, Assert.Throws<SealedStreamException>(() => open.ReadByte())); // the error is permanent
        return (output.ToArray(), fault);
    }

    /// <summary>Returns fewer bytes than requested, at random.</summary>
    private sealed class TricklingStream(byte[] content, Random random) : MemoryStream(content)
    {
        public override int Read(Span<byte> buffer) => base.Read(buffer[..Math.Min(buffer.Length, random.Next(1, 5_000))]);

        public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
            base.ReadAsync(buffer[..Math.Min(buffer.Length, random.Next(1, 5_000))], cancellationToken);
    }
}
