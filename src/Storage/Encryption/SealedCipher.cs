using System.Buffers.Binary;
using System.Diagnostics;
using System.Security.Cryptography;

namespace Treepie.Storage.Encryption;

/// <summary>
/// The key and the operations of one sealed stream: the STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár 2015) with
/// AES-256-GCM. Each chunk is sealed with its number and a flag for the last one, so omitting, repeating, moving or replacing
/// a chunk, or ending the stream early, makes a tag fail.
/// <code>
/// OFFSET SIZE MEANING of a chunk (little-endian)
///      0    4 length of the content in bytes (L); bit 31: this is the last chunk
///      4    4 first bytes of the stream's salt, to detect a chunk of another stream
///      8    8 number of the chunk, from 0
///     16    L content, encrypted
///   16+L   16 tag
/// </code>
/// Associated data: the first 16 bytes of the chunk. Nonce: number (8 bytes, big-endian), three zeros, 1 for the last chunk
/// and 0 for others; all ones for the tag of the header. Each stream has its own key (its salt has 256 random bits), so no
/// nonce is used twice with a key.
/// </summary>
internal sealed class SealedCipher : IDisposable
{
    public const int TagBytes = 16;

    /// <summary>The number of bytes before the content of a chunk.</summary>
    public const int FrameBytes = 16;

    /// <summary>The number of bytes that sealing adds to a chunk.</summary>
    public const int AddedBytes = FrameBytes + TagBytes;

    /// <summary>2^32 chunks of 64 KiB are 256 TiB, far below the limit of AES-GCM for one key.</summary>
    public const long MaxChunks = 1L << 32;

    private const uint LastFlag = 0x8000_0000;
    private const int NonceBytes = 12;

    private readonly AesGcm _aes;
    private readonly uint _streamMark;

    private SealedCipher(AesGcm aes, uint streamMark)
    {
        _aes = aes;
        _streamMark = streamMark;
    }

    /// <summary>Creates the cipher of a new stream and writes its whole header.</summary>
    public static SealedCipher Create(in SealedHeader header, EncryptionKey key, Span<byte> destination)
    {
        Span<byte> check = stackalloc byte[SealedHeader.CheckBytes];
        SealedCipher cipher = Derive(header, key, check);
        header.Write(destination, check);
        cipher._aes.Encrypt(
            HeaderNonce, default, default, SealedHeader.TagOf(destination), destination[..SealedHeader.TaggedBytes]);
        SealedHeader.Finish(destination);
        return cipher;
    }

    /// <summary>Creates the cipher of a stream from its header.</summary>
    /// <exception cref="EncryptionKeyException">The stream was sealed with another key.</exception>
    /// <exception cref="SealedStreamException">The header was changed.</exception>
    public static SealedCipher Open(ReadOnlySpan<byte> bytes, EncryptionKey key, out SealedHeader header)
    {
        header = SealedHeader.Read(bytes);
        if (header.Derivation.Kind != key.Kind)
        {
            throw new EncryptionKeyException(
                $"The stream was sealed with "
                    + $"{(key.IsPassphrase ? $"a key of {EncryptionKey.SizeBytes} bytes, and a passphrase" : $"a passphrase, and "
                        + $"a key of {EncryptionKey.SizeBytes} bytes")} was given. Give the key it was sealed with.");
        }

        Span<byte> check = stackalloc byte[SealedHeader.CheckBytes];
        SealedCipher cipher = Derive(header, key, check);
        try
        {
            if (!CryptographicOperations.FixedTimeEquals(check, SealedHeader.CheckOf(bytes)))
                throw new EncryptionKeyException(
                    "The stream was sealed with another key than the one given; it is not damaged as far as its header goes. "
                        + "Give the key it was sealed with.");

            cipher._aes.Decrypt(HeaderNonce, default, SealedHeader.TagOf(bytes), default, bytes[..SealedHeader.TaggedBytes]);
            return cipher;
        }
        catch (AuthenticationTagMismatchException error)
        {
            cipher.Dispose();
            throw new SealedStreamException(
                SealedFault.HeaderForged,
                "The header of the sealed stream was changed, though its checksum and its key fit. Take another copy.", error);
        }
        catch
        {
            cipher.Dispose();
            throw;
        }
    }

    /// <summary>Seals a chunk. <paramref name="frame"/> has exactly <see cref="AddedBytes"/> more than the content.</summary>
    public void Seal(long number, bool isLast, ReadOnlySpan<byte> content, Span<byte> frame)
    {
        Debug.Assert(frame.Length == content.Length + AddedBytes, "room is exact");
        Span<byte> head = frame[..FrameBytes];
        BinaryPrimitives.WriteUInt32LittleEndian(head, (uint)content.Length | (isLast ? LastFlag : 0));
        BinaryPrimitives.WriteUInt32LittleEndian(head[4..], _streamMark);
        BinaryPrimitives.WriteInt64LittleEndian(head[8..], number);
        Span<byte> nonce = stackalloc byte[NonceBytes];
        WriteNonce(nonce, number, isLast);
        _aes.Encrypt(nonce, content, frame.Slice(FrameBytes, content.Length), frame[^TagBytes..], head);
    }

    /// <summary>
    /// Reads the header of a chunk and returns the length of its content. It is authenticated only together with the content.
    /// </summary>
    /// <exception cref="SealedStreamException">It is not the header of the expected chunk.</exception>
    public int ReadFrame(ReadOnlySpan<byte> head, long number, int chunkBytes, out bool isLast)
    {
        Debug.Assert(head.Length == FrameBytes, "the length of a chunk is in its first bytes");
        uint length = BinaryPrimitives.ReadUInt32LittleEndian(head);
        isLast = (length & LastFlag) != 0;
        length &= ~LastFlag;
        if (BinaryPrimitives.ReadUInt32LittleEndian(head[4..]) != _streamMark)
            throw new SealedStreamException(
                SealedFault.ChunkForeign,
                $"Chunk {number} of the sealed stream belongs to another stream, or its first bytes are damaged. Take another "
                    + $"copy.");

        long found = BinaryPrimitives.ReadInt64LittleEndian(head[8..]);
        if (found != number)
            throw new SealedStreamException(
                SealedFault.ChunkMisplaced,
                $"Chunk {found} of the sealed stream is in the place of chunk {number}: chunks were "
                    + $"{(found > number ? "left out or reordered" : "repeated or reordered")}, or its first bytes are damaged. "
                    + $"Take another copy.");
        if (length > chunkBytes || (!isLast && length != chunkBytes))
            throw Damaged(number, null);
        return (int)length;
    }

    /// <summary>Decrypts a chunk into <paramref name="content"/>, which has exactly its length.</summary>
    /// <exception cref="SealedStreamException">The chunk is not authentic.</exception>
    public void Open(long number, bool isLast, ReadOnlySpan<byte> frame, Span<byte> content)
    {
        Debug.Assert(frame.Length == content.Length + AddedBytes, "a frame is its content and what is added");
        Span<byte> nonce = stackalloc byte[NonceBytes];
        WriteNonce(nonce, number, isLast);
        try
        {
            _aes.Decrypt(nonce, frame.Slice(FrameBytes, content.Length), frame[^TagBytes..], content, frame[..FrameBytes]);
        }
        catch (AuthenticationTagMismatchException error)
        {
            throw Damaged(number, error);
        }
    }

    public void Dispose() => _aes.Dispose();

    private static ReadOnlySpan<byte> HeaderNonce => [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF];

    private static SealedStreamException Damaged(long number, Exception? inner) => new(
        SealedFault.ChunkDamaged,
        $"Chunk {number} of the sealed stream is damaged or forged: its tag does not fit. What comes before it was whole. Take "
            + $"another copy.",
        inner);

    private static void WriteNonce(Span<byte> nonce, long number, bool isLast)
    {
        nonce.Clear();
        BinaryPrimitives.WriteInt64BigEndian(nonce, number);
        nonce[^1] = isLast ? (byte)1 : (byte)0;
    }

    private static SealedCipher Derive(in SealedHeader header, EncryptionKey key, Span<byte> check)
    {
        Span<byte> wrapping = stackalloc byte[EncryptionKey.SizeBytes],
            streamKey = stackalloc byte[EncryptionKey.SizeBytes],
            salt = stackalloc byte[SealedHeader.SaltBytes];
        try
        {
            key.DeriveWrappingKey(header.Derivation, wrapping);
            header.WriteSalt(salt);
            HKDF.DeriveKey(HashAlgorithmName.SHA256, wrapping, streamKey, salt, "treepie sealed stream 1, key"u8);
            HKDF.DeriveKey(HashAlgorithmName.SHA256, wrapping, check, salt, "treepie sealed stream 1, key check"u8);
            return new SealedCipher(new AesGcm(streamKey, TagBytes), BinaryPrimitives.ReadUInt32LittleEndian(salt));
        }
        finally
        {
            CryptographicOperations.ZeroMemory(wrapping);
            CryptographicOperations.ZeroMemory(streamKey);
        }
    }
}
