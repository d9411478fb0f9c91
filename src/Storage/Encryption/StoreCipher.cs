using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Treepie.Storage.Files;
using Treepie.Storage.Format;

namespace Treepie.Storage.Encryption;

/// <summary>
/// The front door of encryption: what turns the pages and frames of one store into what lies on the disk, and back. Plain stores
/// have none.
/// </summary>
/// <remarks>
/// It promises that no nonce is used twice under a key for different things. Every opening for writing draws a random
/// incarnation, and every key that seals is derived from it: page keys from the incarnation alone, with birth transaction and
/// page number as nonce, since a page number is given one content by one transaction; journal keys from incarnation, use and
/// salt, with the frame's number. So two copies of a directory that go different ways share no key. Pages and blocks that hold
/// none of the user's bytes (meta pages, bitmaps) are written again with the same numbers: they are authenticated by
/// HMAC-SHA-256, which has no nonce, and not encrypted. It costs about 4 µs for a page of 8 KiB each way. Thread-safe; the
/// ciphers it makes are for one thread at a time.
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

    /// <summary>What new pages and uses of the journal are sealed with. Changed by the leader.</summary>
    public ulong Incarnation => Volatile.Read(ref _incarnation);

    /// <summary>The keys as the next meta page has them. Changed by the leader.</summary>
    public KeyBlock Block { get; set; }

    /// <summary>The keys.</summary>
    public DataKeys Keys => Volatile.Read(ref _keys);

    /// <summary>Who sees what is encrypted, or null.</summary>
    public SealObserver? Observer => _world.Seals;

    /// <summary>Where keys come from.</summary>
    public FillRandom Random => _world.Secrets;

    /// <summary>For a new store.</summary>
    public static StoreCipher Create(World world, Guid storeId, EncryptionKey key)
    {
        var keys = DataKeys.Draw(storeId, world.Secrets);
        return new StoreCipher(world, storeId, keys, keys.Wrap(key, world.Secrets, world.Seals));
    }

    /// <summary>
    /// For the store of a meta page; null where it is plain. Throws <see cref="EncryptionKeyException"/> where the key does not
    /// fit, and <see cref="CorruptionException"/> for a meta page that was changed by someone without the key.
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

    /// <summary>
    /// For a store of which the wrapped keys were found. Throws <see cref="EncryptionKeyException"/> where the key does not fit.
    /// </summary>
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

    /// <summary>The tag of a meta page, whatever tag it has.</summary>
    public UInt128 TagOf(MetaPage meta)
    {
        Span<byte> copy = stackalloc byte[MetaPage.CopyBytes];
        (meta with { Tag = 0 }).WriteCopy(copy);
        var page = new Page(copy);
        page.Checksum = 0;
        return Authenticate("meta"u8, copy);
    }

    /// <summary>The meta page as it is to be written: with keys and tag.</summary>
    public MetaPage Seal(MetaPage meta)
    {
        MetaPage keyed = meta with { Keys = Block };
        return keyed with { Tag = TagOf(keyed) };
    }

    /// <summary>The tag of a bitmap page, whatever tag and checksum it has.</summary>
    public UInt128 TagOfBitmap(ReadOnlySpan<byte> page)
    {
        Span<byte> copy = stackalloc byte[PageLayout.SizeBytes];
        page.CopyTo(copy);
        var sealedPage = new Page(copy);
        sealedPage.Checksum = 0;
        sealedPage.Tag = 0;
        return Authenticate("bitmap"u8, copy);
    }

    /// <summary>A cipher of pages.</summary>
    public PageCipher NewPageCipher() => new(this);

    /// <summary>The cipher of the frames of a use of a journal file.</summary>
    public FrameCipher NewFrameCipher(in JournalFileHeader use)
    {
        Span<byte> purpose = stackalloc byte[24];
        "journal "u8.CopyTo(purpose);
        BinaryPrimitives.WriteInt64LittleEndian(purpose[8..], use.Use);
        BinaryPrimitives.WriteUInt64LittleEndian(purpose[16..], use.Salt);
        return new FrameCipher(NewSeal(use.Incarnation, purpose));
    }

    /// <summary>A key for who keeps something beside this store: the same for a purpose as long as the store lives.</summary>
    public EncryptionKey DeriveKey(string purpose)
    {
        Span<byte> key = stackalloc byte[EncryptionKey.SizeBytes];
        Keys.DeriveFromRoot(Encoding.UTF8.GetBytes(DerivedPurpose + purpose), key);
        var derived = EncryptionKey.FromBytes(key);
        CryptographicOperations.ZeroMemory(key);
        return derived;
    }

    /// <summary>
    /// Takes other keys in use, wrapped in <paramref name="block"/>; what is sealed from now on is sealed with their current data
    /// key.
    /// </summary>
    public void Use(DataKeys keys, KeyBlock block)
    {
        // What was sealed with the ones before is opened with copies of them in the new ones; those who derive at this moment
        // still hold the old ones.
        _retired.Add(Keys);
        Volatile.Write(ref _keys, keys);
        Block = block;
        Volatile.Write(ref _incarnation, DrawIncarnation());
    }

    /// <summary>Whether a key of the user's is the one in force.</summary>
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

    /// <summary>AES-256-GCM under the key of a purpose within an incarnation.</summary>
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
        while (drawn < 2); // 0 is what plain pages have

        return drawn;
    }

    private static string Name(KeyDerivationKind kind) =>
        kind == KeyDerivationKind.Passphrase ? "passphrase" : $"key of {EncryptionKey.SizeBytes} bytes";
}
