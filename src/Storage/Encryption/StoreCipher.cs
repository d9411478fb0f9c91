using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Encryption;

/// <summary>
/// The entry point of encryption: encrypts and decrypts the pages and frames of one store. Unencrypted stores have none.
/// </summary>
/// <remarks>
/// Guarantees that no nonce is used twice under a key for different content. Every opening for writing generates a random
/// incarnation, and every encryption key is derived from it: page keys from the incarnation alone, with birth transaction and
/// page number as nonce, since a transaction gives a page number only one content; journal keys from incarnation, use and
/// salt, with the frame number as nonce. So two copies of a directory that are written independently share no key. Pages and
/// blocks without user data (meta pages, bitmaps) are rewritten with the same numbers: they are authenticated by
/// HMAC-SHA-256, which has no nonce, and not encrypted. Encryption costs about 4 µs for a page of 8 KiB in each direction.
/// Thread-safe; the ciphers it creates are for one thread at a time.
/// </remarks>
internal sealed class StoreCipher : IDisposable
{
    private const string DerivedPurpose = "derived/";

    private readonly World _world;
    private readonly Guid _storeId;
    private readonly List<DataKeys> _retired = [];
    private DataKeys _keys;
    private ulong _incarnation;

    private StoreCipher(World world, Guid storeId, DataKeys keys, KeyBlock block)
    {
        _world = world;
        _storeId = storeId;
        _keys = keys;
        Block = block;
        _incarnation = DrawIncarnation();
    }

    /// <summary>The incarnation for new pages and uses of the journal. Changed only by the commit leader.</summary>
    public ulong Incarnation => Volatile.Read(ref _incarnation);

    /// <summary>The wrapped keys for the next meta page. Changed only by the commit leader.</summary>
    public KeyBlock Block { get; set; }

    /// <summary>The current keys.</summary>
    public DataKeys Keys => Volatile.Read(ref _keys);

    /// <summary>Observes everything that is encrypted, or null.</summary>
    public SealObserver? Observer => _world.Seals;

    /// <summary>The source of random keys.</summary>
    public FillRandom Random => _world.Secrets;

    /// <summary>Creates the cipher of a new store, with new keys.</summary>
    public static StoreCipher Create(World world, Guid storeId, EncryptionKey key)
    {
        var keys = DataKeys.Draw(storeId, world.Secrets);
        return new StoreCipher(world, storeId, keys, keys.Wrap(key, world.Secrets, world.Seals));
    }

    /// <summary>
    /// Creates the cipher for the store of a meta page. Returns null if it is not encrypted. Throws
    /// <see cref="EncryptionKeyException"/> for a wrong key and <see cref="CorruptionException"/> for a meta page that was
    /// changed without the key.
    /// </summary>
    public static StoreCipher? Open(World world, MetaPage meta, EncryptionKey? key)
    {
        string path = world.Files.Path;
        if (meta.Keys is null && key is null)
            return null;

        StoreCipher cipher = Open(world, meta.StoreId, meta.Keys, key);
        if (cipher.TagOf(meta) == meta.Tag)
            return cipher;

        cipher.Dispose();
        throw new CorruptionException(
            $"Meta page {meta.Slot} of '{Path.Combine(path, FormatLimits.DataFileName)}' was changed by someone who does not "
                + $"have the key. Nothing was written. Restore a backup.");
    }

    /// <summary>Creates the cipher from wrapped keys. Throws <see cref="EncryptionKeyException"/> for a wrong key.</summary>
    public static StoreCipher Open(World world, Guid storeId, KeyBlock? block, EncryptionKey? key)
    {
        string path = world.Files.Path;
        if (block is null)
            throw new EncryptionKeyException(
                $"'{path}' is not encrypted, but a key was given for it. Open it without one; to encrypt it, restore a backup of "
                    + $"it into a new, encrypted one. Nothing was written.");
        if (key is null)
            throw new EncryptionKeyException(
                $"'{path}' is encrypted: it needs its {Name(block.Derivation.Kind)}, and none was given. Nothing was written.");
        if (key.Kind != block.Derivation.Kind)
            throw new EncryptionKeyException(
                $"'{path}' is encrypted with a {Name(block.Derivation.Kind)}; a {Name(key.Kind)} was given. Nothing was "
                    + $"written.");
        if (DataKeys.TryUnwrap(block, storeId, key) is not { } keys)
            throw new EncryptionKeyException(
                $"'{path}' cannot be opened with the {Name(key.Kind)} that was given: it is the one of another environment, or "
                    + $"was replaced by a newer one. Nothing was written.");

        return new StoreCipher(world, storeId, keys, block);
    }

    /// <summary>Computes the tag of a meta page, ignoring its current tag.</summary>
    public UInt128 TagOf(MetaPage meta)
    {
        Span<byte> copy = stackalloc byte[MetaPage.CopyBytes];
        (meta with { Tag = 0 }).WriteCopy(copy);
        var page = new Page(copy);
        page.Checksum = 0;
        return Authenticate("meta"u8, copy);
    }

    /// <summary>Returns the meta page with keys and tag, ready to be written.</summary>
    public MetaPage Seal(MetaPage meta)
    {
        MetaPage keyed = meta with { Keys = Block };
        return keyed with { Tag = TagOf(keyed) };
    }

    /// <summary>Computes the tag of a bitmap page, ignoring its current tag and checksum.</summary>
    public UInt128 TagOfBitmap(ReadOnlySpan<byte> page)
    {
        Span<byte> copy = stackalloc byte[PageLayout.SizeBytes];
        page.CopyTo(copy);
        var sealedPage = new Page(copy);
        sealedPage.Checksum = 0;
        sealedPage.Tag = 0;
        return Authenticate("bitmap"u8, copy);
    }

    /// <summary>Creates a cipher for pages.</summary>
    public PageCipher NewPageCipher() => new(this);

    /// <summary>Creates the cipher for the frames of one use of a journal file.</summary>
    public FrameCipher NewFrameCipher(in JournalFileHeader use)
    {
        Span<byte> purpose = stackalloc byte[24];
        "journal "u8.CopyTo(purpose);
        BinaryPrimitives.WriteInt64LittleEndian(purpose[8..], use.Use);
        BinaryPrimitives.WriteUInt64LittleEndian(purpose[16..], use.Salt);
        return new FrameCipher(NewSeal(use.Incarnation, purpose));
    }

    /// <summary>
    /// Derives a key for data stored beside this store. It is the same for a purpose during the whole life of the store.
    /// </summary>
    public EncryptionKey DeriveKey(string purpose)
    {
        Span<byte> key = stackalloc byte[EncryptionKey.SizeBytes];
        Keys.DeriveFromRoot(Encoding.UTF8.GetBytes(DerivedPurpose + purpose), key);
        var derived = EncryptionKey.FromBytes(key);
        CryptographicOperations.ZeroMemory(key);
        return derived;
    }

    /// <summary>
    /// Switches to other keys, wrapped in <paramref name="block"/>. From now on data is encrypted with their current data
    /// key.
    /// </summary>
    public void Use(DataKeys keys, KeyBlock block)
    {
        // The new keys contain copies of the previous ones for existing data. Other threads may be deriving keys from the old
        // object, so it is kept.
        _retired.Add(Keys);
        Volatile.Write(ref _keys, keys);
        Block = block;
        Volatile.Write(ref _incarnation, DrawIncarnation());
    }

    /// <summary>Whether a user key is the current one.</summary>
    public bool IsKey(EncryptionKey key)
    {
        if (key.Kind != Block.Derivation.Kind)
            return false;

        using DataKeys? keys = DataKeys.TryUnwrap(Block, _storeId, key);
        return keys is not null;
    }

    public void Dispose()
    {
        _keys.Dispose();
        foreach (DataKeys keys in _retired)
            keys.Dispose();
    }

    /// <summary>Creates a cipher with the key of a purpose within an incarnation.</summary>
    internal AesGcmSeal NewSeal(ulong incarnation, ReadOnlySpan<byte> purpose)
    {
        Span<byte> key = stackalloc byte[AesGcmSeal.KeyBytes];
        Keys.Derive(incarnation, purpose, key);
        var seal = new AesGcmSeal(key, Observer);
        CryptographicOperations.ZeroMemory(key);
        return seal;
    }

    private UInt128 Authenticate(ReadOnlySpan<byte> purpose, ReadOnlySpan<byte> bytes)
    {
        Span<byte> key = stackalloc byte[HMACSHA256.HashSizeInBytes];
        Keys.DeriveFromRoot(purpose, key);
        Span<byte> hash = stackalloc byte[HMACSHA256.HashSizeInBytes];
        HMACSHA256.HashData(key, bytes, hash);
        CryptographicOperations.ZeroMemory(key);
        return BinaryPrimitives.ReadUInt128LittleEndian(hash);
    }

    private ulong DrawIncarnation()
    {
        Span<byte> bytes = stackalloc byte[sizeof(ulong)];
        ulong drawn;
        do
        {
            _world.Secrets(bytes);
            drawn = (BinaryPrimitives.ReadUInt64LittleEndian(bytes) & ~1UL) | (uint)Keys.Parity;
        }
        while (drawn < 2); // 0 marks unencrypted pages

        return drawn;
    }

    private static string Name(KeyDerivationKind kind) =>
        kind == KeyDerivationKind.Passphrase ? "passphrase" : $"key of {EncryptionKey.SizeBytes} bytes";
}
