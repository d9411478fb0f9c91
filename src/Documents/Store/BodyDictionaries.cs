using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Security.Cryptography;
using Treepie.Compression;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>
/// The dictionaries that bodies of a database are packed with, by their numbers, shared by all its readers and writers. The
/// number of one follows from its bytes, so that what is remembered here is true whatever becomes of a transaction. Thread-safe.
/// </summary>
/// <remarks>
/// Without its dictionary a packed body cannot be read: each stands twice, in trees of its own, and is proven by its number.
/// </remarks>
internal sealed class BodyDictionaries(bool isSecret)
{
    /// <summary>Dictionaries that are kept ready; some hundred KB each.</summary>
    private const int MostReady = 64;

    private readonly ConcurrentDictionary<uint, BodyDictionary> _ready = new();
    private readonly ZstdFrames _frames = new();

    /// <summary>Whether what is unpacked is zeroed before others get its memory.</summary>
    public bool IsSecret => isSecret;

    /// <summary>The number of a dictionary.</summary>
    public static uint NumberOf(ReadOnlySpan<byte> bytes)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(bytes, hash);
        return BinaryPrimitives.ReadUInt32LittleEndian(hash);
    }

    /// <summary>Keeps a dictionary; false where another has its number already.</summary>
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

    /// <summary>The dictionary of a number.</summary>
    /// <param name="number">Its number.</param>
    /// <param name="find">Gives the trees it is looked for in, where it is not known yet.</param>
    /// <exception cref="CorruptionException">It is lost.</exception>
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
            return null; // its page is damaged: there is the other one
        }
    }
}
