using System.Buffers.Binary;
using System.Diagnostics;
using System.Security.Cryptography;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Encryption;

/// <summary>
/// The random keys of one store: a data key, during a rotation also the one before, and a root key for purposes that outlive
/// data keys. Data is encrypted or authenticated with keys derived from these by HKDF-SHA-256 (RFC 5869), with the store id
/// as salt and a purpose as info. Thread-safe except for <see cref="Dispose"/>.
/// </summary>
internal sealed class DataKeys : IDisposable
{
    private const int RootOffset = 2 * AesGcmSeal.KeyBytes;
    private const int MaxInfoBytes = 256;

    private readonly SecretBytes _secrets = new(KeyBlock.SecretBytes);
    private readonly Guid _storeId;
    private readonly int _flags;

    private DataKeys(Guid storeId, int flags)
    {
        _storeId = storeId;
        _flags = flags;
    }

    /// <summary>0 or 1: the lowest bit of the incarnations that use the current data key.</summary>
    public int Parity => (_flags & KeyBlock.FlagOdd) != 0 ? 1 : 0;

    /// <summary>Whether there are two data keys and the current one is the newer.</summary>
    public bool IsSwitched => (_flags & KeyBlock.FlagSwitched) != 0;

    /// <summary>Whether the data key before or after the current one exists, too.</summary>
    public bool HasBoth => (_flags & KeyBlock.FlagHasEven) != 0 && (_flags & KeyBlock.FlagHasOdd) != 0;

    /// <summary>Generates new keys.</summary>
    public static DataKeys Draw(Guid storeId, FillRandom random)
    {
        var keys = new DataKeys(storeId, KeyBlock.FlagHasEven);
        random(keys.Key(0));
        random(keys._secrets.Span[RootOffset..]);
        return keys;
    }

    /// <summary>Unwraps the keys of a block. Returns null if they were wrapped with a different user key.</summary>
    public static DataKeys? TryUnwrap(KeyBlock block, Guid storeId, EncryptionKey key)
    {
        var keys = new DataKeys(storeId, block.Flags);
        using var wrapping = new SecretBytes(AesGcmSeal.KeyBytes);
        key.DeriveWrappingKey(block.Derivation, wrapping.Span);
        using var seal = new AesGcmSeal(wrapping.Span, null);
        if (seal.TryOpen(
            stackalloc byte[AesGcmSeal.NonceBytes], Associated(storeId, block.Head), block.Sealed, block.Tag, keys._secrets.Span))
            return keys;

        keys.Dispose();
        return null;
    }

    /// <summary>Wraps the keys with the user's key and a new salt.</summary>
    public KeyBlock Wrap(EncryptionKey key, FillRandom random, SealObserver? observer)
    {
        Span<byte> salt = stackalloc byte[KeyDerivation.SaltBytes];
        random(salt);
        KeyDerivation derivation = KeyDerivation.New(key.Kind, salt);
        return KeyBlock.New(derivation, _flags, (head, tag, sealedKeys) =>
        {
            using var wrapping = new SecretBytes(AesGcmSeal.KeyBytes);
            key.DeriveWrappingKey(derivation, wrapping.Span);
            using var seal = new AesGcmSeal(wrapping.Span, observer);
            seal.Seal(stackalloc byte[AesGcmSeal.NonceBytes], Associated(_storeId, head), _secrets.Span, sealedKeys, tag);
        });
    }

    /// <summary>Returns the same keys with a new data key in addition to the current one.</summary>
    public DataKeys WithNext(FillRandom random)
    {
        Debug.Assert(!HasBoth, "a new key takes the place of none");
        DataKeys keys = Copy(_flags | KeyBlock.FlagHasEven | KeyBlock.FlagHasOdd);
        random(keys.Key(1 - Parity));
        return keys;
    }

    /// <summary>Returns the same keys with the newer of two data keys as the current one.</summary>
    public DataKeys Switched() => Copy((_flags ^ KeyBlock.FlagOdd) | KeyBlock.FlagSwitched);

    /// <summary>Returns the same keys without the data key before the current one.</summary>
    public DataKeys WithoutPrevious()
    {
        Debug.Assert(HasBoth && IsSwitched, "the key in force stays");
        DataKeys keys = Copy(Parity == 1 ? KeyBlock.FlagOdd | KeyBlock.FlagHasOdd : KeyBlock.FlagHasEven);
        keys.Key(1 - Parity).Clear();
        return keys;
    }

    /// <summary>Whether the data key of an incarnation exists.</summary>
    public bool Has(ulong incarnation) => (_flags & ((incarnation & 1) == 1 ? KeyBlock.FlagHasOdd : KeyBlock.FlagHasEven)) != 0;

    /// <summary>Derives a key for a purpose within an incarnation.</summary>
    public void Derive(ulong incarnation, ReadOnlySpan<byte> purpose, Span<byte> key) =>
        Derive(Key((int)(incarnation & 1)), purpose, incarnation, key);

    /// <summary>Derives a key for a purpose that outlives data keys.</summary>
    public void DeriveFromRoot(ReadOnlySpan<byte> purpose, Span<byte> key) =>
        Derive(_secrets.Span[RootOffset..], purpose, 0, key);

    public void Dispose() => _secrets.Dispose();

    private DataKeys Copy(int flags)
    {
        var keys = new DataKeys(_storeId, flags);
        _secrets.Span.CopyTo(keys._secrets.Span);
        return keys;
    }

    private void Derive(ReadOnlySpan<byte> from, ReadOnlySpan<byte> purpose, ulong incarnation, Span<byte> key)
    {
        if (purpose.Length > MaxInfoBytes)
            throw new ArgumentException(
                $"A purpose has {MaxInfoBytes} bytes at most; this one has {purpose.Length}.", nameof(purpose));

        Span<byte> salt = stackalloc byte[16];
        _storeId.TryWriteBytes(salt);
        Span<byte> info = stackalloc byte[MaxInfoBytes + sizeof(ulong)];
        BinaryPrimitives.WriteUInt64LittleEndian(info, incarnation);
        purpose.CopyTo(info[sizeof(ulong)..]);
        HKDF.DeriveKey(HashAlgorithmName.SHA256, from, key, salt, info[..(sizeof(ulong) + purpose.Length)]);
    }

    private Span<byte> Key(int parity) => _secrets.Span.Slice(parity * AesGcmSeal.KeyBytes, AesGcmSeal.KeyBytes);

    private static byte[] Associated(Guid storeId, ReadOnlySpan<byte> head) =>
        [.. "TPKEYS01"u8, .. storeId.ToByteArray(), .. head];
}
