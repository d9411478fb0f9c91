using System.Buffers.Binary;
using System.Security.Cryptography;

namespace Treepie.Storage.Tests.Encryption;

/// <summary>
/// Opens a sealed stream according to docs/internals/backup-format.md, using nothing of the engine. If it fails, the
/// documentation is incomplete.
/// </summary>
internal static class SealedReader
{
    public static byte[] Open(byte[] file, byte[]? key, string? passphrase)
    {
        Assert.Equal([0x89, 0x54, 0x50, 0x53, 0x45, 0x41, 0x4C, 0x0A], file[..8]);
        int chunkBytes = BinaryPrimitives.ReadInt32LittleEndian(file.AsSpan(12));
        byte[] derivationSalt = file[24..56], salt = file[56..88];
        byte[] ikm = key
            ?? Rfc2898DeriveBytes.Pbkdf2(
                passphrase ?? "", derivationSalt, BinaryPrimitives.ReadInt32LittleEndian(file.AsSpan(20)),
                HashAlgorithmName.SHA512, 32);
        byte[] wrapping = HKDF.DeriveKey(HashAlgorithmName.SHA256, ikm, 32, derivationSalt, "treepie wrapping key"u8.ToArray());
        byte[] streamKey = HKDF.DeriveKey(
            HashAlgorithmName.SHA256, wrapping, 32, salt, "treepie sealed stream 1, key"u8.ToArray());
        byte[] check = HKDF.DeriveKey(
            HashAlgorithmName.SHA256, wrapping, 16, salt, "treepie sealed stream 1, key check"u8.ToArray());
        Assert.Equal(check, file[88..104]);

        using var aes = new AesGcm(streamKey, 16);
        byte[] headerNonce = [.. Enumerable.Repeat((byte)0xFF, 12)];
        aes.Decrypt(headerNonce, default, file.AsSpan(104, 16), default(Span<byte>), file.AsSpan(0, 104));
        var content = new List<byte>();
        int at = 128;
        for (long number = 0; ; number++)
        {
            uint head = BinaryPrimitives.ReadUInt32LittleEndian(file.AsSpan(at));
            int length = (int)(head & 0x7FFF_FFFF);
            bool isLast = head >> 31 == 1;
            Assert.True(isLast || length == chunkBytes);
            Assert.Equal(file[56..60], file[(at + 4)..(at + 8)]);
            Assert.Equal(number, BinaryPrimitives.ReadInt64LittleEndian(file.AsSpan(at + 8)));
            byte[] nonce = new byte[12], chunk = new byte[length];
            BinaryPrimitives.WriteInt64BigEndian(nonce, number);
            nonce[11] = isLast ? (byte)1 : (byte)0;
            int sealedAt = at + 16, tagAt = sealedAt + length;
            aes.Decrypt(nonce, file.AsSpan(sealedAt, length), file.AsSpan(tagAt, 16), chunk, file.AsSpan(at, 16));
            content.AddRange(chunk);
            at = tagAt + 16;
            if (!isLast)
                continue;

            Assert.Equal(file.Length, at);
            return [.. content];
        }
    }
}
