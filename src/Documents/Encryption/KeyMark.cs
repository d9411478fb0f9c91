using System.Security.Cryptography;
using Treepie.Storage;

namespace Treepie.Encryption;

/// <summary>
/// Tells whether two keys are the same without keeping either: a hash of the key, for a purpose. Keys are random bytes, so the
/// hash tells nothing of them; a passphrase has no mark of its own.
/// </summary>
internal static class KeyMark
{
    private const int Bytes = 16;

    /// <summary>The mark of a key, in hexadecimal.</summary>
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
