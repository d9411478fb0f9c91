using System.Security.Cryptography;
using Treepie.Storage;

namespace Treepie.Encryption;

/// <summary>
/// Compares keys without storing them: a hash of the key for one purpose. Keys are random, so the hash reveals nothing about
/// them; all passphrases have the same mark.
/// </summary>
internal static class KeyMark
{
    private const int Bytes = 16;

    /// <summary>Returns the mark of a key, in hexadecimal.</summary>
    public static string Of(EncryptionKey key)
    {
        if (key.IsPassphrase)
            return "passphrase";
        using var secret = new SecretBuffer(EncryptionKey.SizeBytes);
        key.CopyTo(secret.Free.Span);
        secret.Advance(EncryptionKey.SizeBytes);
        return Convert.ToHexStringLower(HMACSHA256.HashData(secret.Span, "treepie chain of backups"u8)[..Bytes]);
    }
}
