using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Security.Cryptography;
using Treepie.Compression;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>
/// The compression dictionaries of a database's document bodies, by number, shared by all readers and writers. The number of a
/// dictionary is derived from its bytes, so that the cache stays valid even if a transaction is rolled back. Thread-safe.
/// </summary>
/// <remarks>
/// A compressed body cannot be read without its dictionary: each is stored twice, in trees of its own, and verified by its
/// number.
/// </remarks>
internal sealed class BodyDictionaries(bool isSecret)
{
    /// <summary>The number of dictionaries kept in memory; a few hundred KB each.</summary>
    private const int MostReady = 64;

    private readonly ConcurrentDictionary<uint, BodyDictionary> _ready = new();
    private readonly ZstdFrames _frames = new();

    /// <summary>Whether decompressed data is zeroed before its memory is reused.</summary>
    public bool IsSecret => isSecret;

    /// <summary>Returns the number of a dictionary.</summary>
    public static uint NumberOf(ReadOnlySpan<byte> bytes)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(bytes, hash);
        return BinaryPrimitives.ReadUInt32LittleEndian(hash);
    }

    /// <summary>Stores a dictionary; returns false if another one has its number.</summary>
    public static bool TryPut(WriteTransaction transaction, ReadOnlySpan<byte> bytes)
    {
        Span<byte> key = stackalloc byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32BigEndian(key, NumberOf(bytes));
        Tree dictionaries = transaction.GetOrCreateTree(TreeNames.Dictionaries);
        if (dictionaries.TryGet(key, out ReadOnlySpan<byte> there))
            return there.SequenceEqual(bytes);
        dictionaries.Put(key, bytes);
        transaction.GetOrCreateTree(TreeNames.DictionaryCopies).Put(key, bytes);
        return true;
    }

    /// <summary>Returns a dictionary by number.</summary>
    /// <param name="number">The number.</param>
    /// <param name="find">Returns the trees to load it from, if it is not cached.</param>
    /// <exception cref="CorruptionException">The dictionary is lost.</exception>
    public BodyDictionary Get(uint number, Func<string, Tree?> find) =>
        _ready.TryGetValue(number, out BodyDictionary? dictionary) ? dictionary : Load(number, find);

    private BodyDictionary Load(uint number, Func<string, Tree?> find)
    {
        BodyDictionary dictionary = TryLoad(number, TreeNames.Dictionaries, find)
            ?? TryLoad(number, TreeNames.DictionaryCopies, find)
            ?? throw new CorruptionException(
                $"The dictionary {number:x8} that documents are compressed with is lost. Run a check of the database and restore "
                    + $"a backup.");
        if (_ready.Count >= MostReady)
            _ready.Clear();
        return _ready.GetOrAdd(number, dictionary);
    }

    private BodyDictionary? TryLoad(uint number, string tree, Func<string, Tree?> find)
    {
        try
        {
            Span<byte> key = stackalloc byte[sizeof(uint)];
            BinaryPrimitives.WriteUInt32BigEndian(key, number);
            return find(tree) is { } dictionaries
                && dictionaries.TryGet(key, out ReadOnlySpan<byte> bytes)
                && NumberOf(bytes) == number
                    ? new BodyDictionary(number, new ZstdDictionary(bytes), _frames)
                    : null;
        }
        catch (CorruptionException)
        {
            return null; // its page is damaged; try the copy
        }
    }
}
