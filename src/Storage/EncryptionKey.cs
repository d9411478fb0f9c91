using System.Security.Cryptography;
using System.Text;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage;

/// <summary>
/// The key of the user: 32 random bytes, or a passphrase. It does not encrypt data itself: it wraps the randomly generated data
/// key of an environment, so that changing it rewrites only one block. Needed only while an environment is opened or its key is
/// changed; can be disposed afterwards. Thread-safe, except for <see cref="Dispose"/>.
/// </summary>
public sealed class EncryptionKey : IDisposable
{
    /// <summary>The size in bytes of a key that is not a passphrase.</summary>
    public const int SizeBytes = 32;

    /// <summary>The minimum number of characters of a passphrase.</summary>
    public const int MinPassphraseLength = 12;

    private const int MaxPassphraseLength = 4096;

    private readonly SecretBytes _bytes;
    private readonly KeyDerivationKind _kind;

    private EncryptionKey(SecretBytes bytes, KeyDerivationKind kind)
    {
        _bytes = bytes;
        _kind = kind;
    }

    /// <summary>
    /// Whether the key is a passphrase, from which a key is derived at each opening; this takes about a tenth of a second.
    /// </summary>
    public bool IsPassphrase => _kind == KeyDerivationKind.Passphrase;

    internal KeyDerivationKind Kind => _kind;

    /// <summary>Creates a key from <see cref="SizeBytes"/> random bytes, which are copied.</summary>
    /// <exception cref="ArgumentException">The length is wrong, or all bytes are equal.</exception>
    public static EncryptionKey FromBytes(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length != SizeBytes)
            throw new ArgumentException(
                $"An encryption key has {SizeBytes} bytes; this one has {bytes.Length}. For a text that people remember, use a "
                    + $"passphrase.",
                nameof(bytes));
        if (!bytes.ContainsAnyExcept(bytes[0]))
            throw new ArgumentException(
                $"All {SizeBytes} bytes of this encryption key are the same: it is not a random key. Generate one.",
                nameof(bytes));

        var secret = new SecretBytes(SizeBytes);
        bytes.CopyTo(secret.Span);
        return new EncryptionKey(secret, KeyDerivationKind.Bytes);
    }

    /// <summary>Creates a key from a passphrase, which is used as given (without trimming or normalization) and copied.</summary>
    /// <exception cref="ArgumentException">It has fewer than <see cref="MinPassphraseLength"/> or more than 4,096 characters, or
    /// is not valid UTF-16.</exception>
    public static EncryptionKey FromPassphrase(ReadOnlySpan<char> text)
    {
        if (text.Length is < MinPassphraseLength or > MaxPassphraseLength)
            throw new ArgumentException(
                $"A passphrase has {MinPassphraseLength} to {MaxPassphraseLength} characters; this one has {text.Length}. "
                    + $"Several words that nobody would guess together are good.",
                nameof(text));

        var utf8 = new UTF8Encoding(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);
        SecretBytes secret;
        try
        {
            secret = new SecretBytes(utf8.GetByteCount(text));
        }
        catch (EncoderFallbackException)
        {
            // Without the inner exception, which would quote the passphrase.
            throw new ArgumentException("The passphrase has a lone half of a surrogate pair: it is not text.", nameof(text));
        }

        utf8.GetBytes(text, secret.Span);
        return new EncryptionKey(secret, KeyDerivationKind.Passphrase);
    }

    /// <summary>Generates a random key. Without it, the data that it protects cannot be read.</summary>
    public static EncryptionKey Generate()
    {
        var secret = new SecretBytes(SizeBytes);
        RandomNumberGenerator.Fill(secret.Span);
        return new EncryptionKey(secret, KeyDerivationKind.Bytes);
    }

    /// <summary>Copies the <see cref="SizeBytes"/> bytes of the key.</summary>
    /// <exception cref="InvalidOperationException">The key is a passphrase.</exception>
    /// <exception cref="ArgumentException">The destination is too short.</exception>
    public void CopyTo(Span<byte> destination)
    {
        if (IsPassphrase)
            throw new InvalidOperationException("A passphrase has no bytes to copy.");

        _bytes.Span.CopyTo(destination);
    }

    /// <summary>Zeroes the key.</summary>
    public void Dispose() => _bytes.Dispose();

    /// <summary>Returns a description that does not reveal the key.</summary>
    public override string ToString() => IsPassphrase ? "passphrase" : $"key of {SizeBytes} bytes";

    /// <summary>
    /// Derives the wrapping key: HKDF-SHA-256 (RFC 5869) of the bytes, or of a key derived from the passphrase by PBKDF2 (RFC
    /// 8018).
    /// </summary>
    /// <param name="derivation">The parameters, for this kind of key.</param>
    /// <param name="wrappingKey">Receives 32 bytes.</param>
    internal void DeriveWrappingKey(in KeyDerivation derivation, Span<byte> wrappingKey)
    {
        Span<byte> salt = stackalloc byte[KeyDerivation.SaltBytes];
        derivation.WriteSalt(salt);
        if (!IsPassphrase)
        {
            HKDF.DeriveKey(HashAlgorithmName.SHA256, _bytes.Span, wrappingKey, salt, "treepie wrapping key"u8);
            return;
        }

        Span<byte> stretched = stackalloc byte[SizeBytes];
        Rfc2898DeriveBytes.Pbkdf2(_bytes.Span, salt, stretched, derivation.Iterations, HashAlgorithmName.SHA512);
        HKDF.DeriveKey(HashAlgorithmName.SHA256, stretched, wrappingKey, salt, "treepie wrapping key"u8);
        CryptographicOperations.ZeroMemory(stretched);
    }
}
