using System.Security.Cryptography;
using Treepie.Storage.Files;

namespace Treepie.Storage.Encryption;

/// <summary>
/// AES-256-GCM (NIST SP 800-38D) under one key. The only place where data of a store is encrypted, so that an observer sees
/// every nonce. For one thread at a time.
/// </summary>
internal sealed class AesGcmSeal : IDisposable
{
    public const int KeyBytes = 32;
    public const int NonceBytes = 12;
    public const int TagBytes = 16;

    private readonly AesGcm _aes;
    private readonly SealObserver? _observer;
    private readonly byte[]? _observedKey;

    public AesGcmSeal(ReadOnlySpan<byte> key, SealObserver? observer)
    {
        _aes = new AesGcm(key, TagBytes);
        _observer = observer;
        _observedKey = observer is null ? null : key.ToArray();
    }

    /// <summary>Encrypts. <paramref name="plain"/> and <paramref name="cipher"/> may be the same.</summary>
    public void Seal(
        ReadOnlySpan<byte> nonce, ReadOnlySpan<byte> associated, ReadOnlySpan<byte> plain, Span<byte> cipher, Span<byte> tag)
    {
        _observer?.Invoke(_observedKey, nonce, associated, plain);
        _aes.Encrypt(nonce, plain, cipher, tag, associated);
    }

    /// <summary>Decrypts. Returns false and zeroes <paramref name="plain"/> if the data is not authentic.</summary>
    public bool TryOpen(
        ReadOnlySpan<byte> nonce, ReadOnlySpan<byte> associated, ReadOnlySpan<byte> cipher, ReadOnlySpan<byte> tag,
        Span<byte> plain)
    {
        try
        {
            _aes.Decrypt(nonce, cipher, tag, plain, associated);
            return true;
        }
        catch (AuthenticationTagMismatchException)
        {
            return false;
        }
    }

    public void Dispose() => _aes.Dispose();
}
