using System.Buffers.Binary;
using System.Text;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>
/// Caches the names of collections by number, shared by all readers of a database. Contains only names read from a durable
/// snapshot: numbers and names never change from then on. Thread-safe; copied only when a collection is first seen.
/// </summary>
internal sealed class CollectionNames
{
    /// <summary>The collection of documents that specify none.</summary>
    public const string Empty = "@empty";

    private readonly Lock _lock = new();
    private CollectionName?[] _names = [];

    /// <summary>Returns the name for a number; null if it has not been loaded yet.</summary>
    public CollectionName? Find(int collectionId)
    {
        CollectionName?[] names = Volatile.Read(ref _names);
        return collectionId < names.Length ? names[collectionId] : null;
    }

    /// <summary>Loads the name for a number from <paramref name="collections"/> of a snapshot, which must contain it.</summary>
    public CollectionName Load(int collectionId, Tree collections)
    {
        Span<byte> key = stackalloc byte[4];
        BinaryPrimitives.WriteInt32BigEndian(key, collectionId);
        if (!collections.TryGet(key, out ReadOnlySpan<byte> value))
            throw new Storage.CorruptionException(
                $"A document is in collection number {collectionId}, which does not exist. Run a check of the database and "
                    + $"restore a backup.");

        var name = new CollectionName(Encoding.UTF8.GetString(new CollectionRecord(value).Name));
        lock (_lock)
        {
            CollectionName?[] copy = _names;
            Array.Resize(ref copy, Math.Max(copy.Length, collectionId + 1));
            copy[collectionId] = name;
            Volatile.Write(ref _names, copy);
        }

        return name;
    }
}
