using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;

namespace Treepie.Storage.Tests.FormatReader;

/// <summary>Implements the section of docs/internals/file-format.md on encryption, using that page only.</summary>
internal sealed class StoreKeys
{
    private readonly byte[] _storeId;
    private readonly byte[] _keys = new byte[96];

    /// <param name="wrapped">160 bytes.</param>
    /// <param name="storeId">16 bytes.</param>
    /// <param name="userKey">32 bytes, or a passphrase in UTF-8.</param>
    public StoreKeys(ReadOnlySpan<byte> wrapped, ReadOnlySpan<byte> storeId, byte[] userKey)
    {
        _storeId = storeId.ToArray();
        byte[] salt = wrapped.Slice(8, 32).ToArray();
        byte[] secret = BinaryPrimitives.ReadInt32LittleEndian(wrapped) == 2
            ? Rfc2898DeriveBytes.Pbkdf2(
                userKey, salt, BinaryPrimitives.ReadInt32LittleEndian(wrapped[4..]), HashAlgorithmName.SHA512, 32)
            : userKey;
        using var aes = new AesGcm(
            HKDF.DeriveKey(HashAlgorithmName.SHA256, secret, 32, salt, Encoding.ASCII.GetBytes("treepie wrapping key")), 16);
        aes.Decrypt(
            new byte[12], wrapped[64..160], wrapped.Slice(48, 16), _keys, [.. "TPKEYS01"u8, .. storeId, .. wrapped[..48]]);
    }

    /// <summary>Decrypts a page, or a run with all its pages.</summary>
    public byte[] OpenPage(byte[] page)
    {
        byte[] head = page[..64], tag = page[40..56], plain = [.. page];
        head.AsSpan(36, 20).Clear();
        using var aes = new AesGcm(Derive(page.AsSpan(56, 8), "page"u8), 16);
        aes.Decrypt([.. page[8..14], .. page[..6]], page.AsSpan(64), tag, plain.AsSpan(64), head);
        return plain;
    }

    /// <summary>Decrypts the payload of a frame of a file.</summary>
    public byte[] OpenFrame(byte[] file, byte[] frame)
    {
        byte[] head = frame[..128], tag = frame[80..96], payload = new byte[frame.Length - 128];
        head.AsSpan(72, 24).Clear();
        using var aes = new AesGcm(Derive(file.AsSpan(72, 8), [.. "journal "u8, .. file.AsSpan(32, 16)]), 16);
        aes.Decrypt([.. frame[16..24], 0, 0, 0, 0], frame.AsSpan(128), tag, payload, head);
        return payload;
    }

    /// <summary>Whether a copy of a meta page, or a bitmap page, has the correct tag.</summary>
    public bool HasRightTag(byte[] page, ReadOnlySpan<byte> purpose)
    {
        byte[] bytes = [.. page];
        bytes.AsSpan(36, 20).Clear();
        byte[] key = HKDF.DeriveKey(HashAlgorithmName.SHA256, _keys[64..96], 32, _storeId, [.. new byte[8], .. purpose]);
        return HMACSHA256.HashData(key, bytes).AsSpan(0, 16).SequenceEqual(page.AsSpan(40, 16));
    }

    private byte[] Derive(ReadOnlySpan<byte> incarnation, ReadOnlySpan<byte> purpose) =>
        HKDF.DeriveKey(
            HashAlgorithmName.SHA256, _keys[((incarnation[0] & 1) * 32)..(((incarnation[0] & 1) * 32) + 32)], 32, _storeId,
            [.. incarnation, .. purpose]);
}
