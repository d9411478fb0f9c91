using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage.Format;

namespace Treepie.Storage.Encryption;

/// <summary>
/// The header of a sealed stream. Little-endian.
/// <code>
/// OFFSET SIZE MEANING
///      0    8 magic: 89 'T' 'P' 'S' 'E' 'A' 'L' 0A
///      8    2 version, 1
///     10    2 suite; 1 = HKDF-SHA-256 and AES-256-GCM
///     12    4 length of the content of a chunk in bytes, 4,096 to 1,048,576
///     16   40 how the wrapping key is derived from the user's key (<see cref="KeyDerivation"/>)
///     56   32 salt of this stream
///     88   16 key check: distinguishes a wrong key from damage
///    104   16 tag over bytes 0 to 103
///    120    4 0
///    124    4 CRC-32C of bytes 0 to 123: distinguishes damage from a wrong key
/// </code>
/// </summary>
internal readonly record struct SealedHeader(int ChunkBytes, KeyDerivation Derivation, UInt128 SaltLow, UInt128 SaltHigh)
{
    public const int SizeBytes = 128;
    public const int SaltBytes = 32;
    public const int CheckBytes = 16;
    public const int MinChunkBytes = 4 * 1024;
    public const int MaxChunkBytes = 1024 * 1024;

    /// <summary>The number of bytes that the tag covers.</summary>
    public const int TaggedBytes = TagAt;

    private const int DerivationAt = 16;
    private const int SaltAt = DerivationAt + KeyDerivation.SizeBytes;
    private const int CheckAt = SaltAt + SaltBytes;
    private const int TagAt = CheckAt + CheckBytes;
    private const int CrcAt = SizeBytes - sizeof(uint);
    private const ushort Version = 1;
    private const ushort Suite = 1;

    /// <summary>The first bytes of every sealed stream.</summary>
    public static ReadOnlySpan<byte> Magic => [0x89, (byte)'T', (byte)'P', (byte)'S', (byte)'E', (byte)'A', (byte)'L', 0x0A];

    public void WriteSalt(Span<byte> destination)
    {
        BinaryPrimitives.WriteUInt128LittleEndian(destination, SaltLow);
        BinaryPrimitives.WriteUInt128LittleEndian(destination[16..], SaltHigh);
    }

    /// <summary>Writes everything before the tag. Write the tag and call <see cref="Finish"/> afterwards.</summary>
    public void Write(Span<byte> destination, ReadOnlySpan<byte> keyCheck)
    {
        Debug.Assert(destination.Length == SizeBytes && keyCheck.Length == CheckBytes, "room is exact");
        destination.Clear();
        Magic.CopyTo(destination);
        BinaryPrimitives.WriteUInt16LittleEndian(destination[8..], Version);
        BinaryPrimitives.WriteUInt16LittleEndian(destination[10..], Suite);
        BinaryPrimitives.WriteInt32LittleEndian(destination[12..], ChunkBytes);
        Derivation.Write(destination.Slice(DerivationAt, KeyDerivation.SizeBytes));
        WriteSalt(destination.Slice(SaltAt, SaltBytes));
        keyCheck.CopyTo(destination[CheckAt..]);
    }

    /// <summary>Writes the checksum, after the tag has been written.</summary>
    public static void Finish(Span<byte> header) =>
        BinaryPrimitives.WriteUInt32LittleEndian(header[CrcAt..], Checksum(header[..CrcAt]));

    public static Span<byte> TagOf(Span<byte> header) => header.Slice(TagAt, SealedCipher.TagBytes);

    public static ReadOnlySpan<byte> TagOf(ReadOnlySpan<byte> header) => header.Slice(TagAt, SealedCipher.TagBytes);

    public static ReadOnlySpan<byte> CheckOf(ReadOnlySpan<byte> header) => header.Slice(CheckAt, CheckBytes);

    /// <summary>Reads a header and checks it as far as possible without the key.</summary>
    /// <exception cref="SealedStreamException">The header is invalid; the exception states the fault.</exception>
    public static SealedHeader Read(ReadOnlySpan<byte> source)
    {
        if (!source.StartsWith(Magic))
            throw new SealedStreamException(
                SealedFault.NotSealed,
                "This is not a sealed stream: its first bytes are not those of one. Read it without a key.");
        if (source.Length < SizeBytes)
            throw new SealedStreamException(
                SealedFault.CutOff,
                $"The sealed stream is cut off within its header: {source.Length} of {SizeBytes} bytes are there. Take another "
                    + $"copy.");
        if (BinaryPrimitives.ReadUInt32LittleEndian(source[CrcAt..]) != Checksum(source[..CrcAt]))
            throw new SealedStreamException(
                SealedFault.HeaderDamaged,
                "The header of the sealed stream is damaged: its checksum does not fit. Take another copy.");

        (ushort version, ushort suite) =
            (BinaryPrimitives.ReadUInt16LittleEndian(source[8..]), BinaryPrimitives.ReadUInt16LittleEndian(source[10..]));
        if (version != Version || suite != Suite)
            throw new SealedStreamException(
                SealedFault.Newer,
                $"The sealed stream has version {version} and suite {suite}; this program knows version {Version}, suite "
                    + $"{Suite}. Read it with the version that wrote it, or a newer one.");

        int chunkBytes = BinaryPrimitives.ReadInt32LittleEndian(source[12..]);
        if (chunkBytes is < MinChunkBytes or > MaxChunkBytes
            || !KeyDerivation.TryRead(source.Slice(DerivationAt, KeyDerivation.SizeBytes), out KeyDerivation derivation))
            throw new SealedStreamException(
                SealedFault.HeaderForged,
                "The header of the sealed stream has values that are never written, and a matching checksum: somebody "
                    + "changed it. Take another copy.");

        ReadOnlySpan<byte> salt = source.Slice(SaltAt, SaltBytes);
        return new SealedHeader(
            chunkBytes, derivation, BinaryPrimitives.ReadUInt128LittleEndian(salt),
            BinaryPrimitives.ReadUInt128LittleEndian(salt[16..]));
    }

    private static uint Checksum(ReadOnlySpan<byte> bytes) => ~Crc32C.Append(uint.MaxValue, bytes);
}
