using System.Buffers.Binary;
using Treepie.Storage;
using Treepie.Storage.Transactions;

namespace Treepie.Indexes;

/// <summary>
/// The last etag of the documents when an index began, stored in a tree of its own. The index reads later states only, so it
/// never has entries of what was deleted before, and needs no tombstone up to there.
/// </summary>
internal static class IndexBeginning
{
    private const string TreeName = "beginning";

    private static readonly byte[] _key = "etag"u8.ToArray();

    /// <summary>Returns the etag; 0 if none is stored.</summary>
    public static long Read(ReadTransaction transaction) =>
        transaction.FindTree(TreeName) is { } tree && tree.TryGet(_key, out ReadOnlySpan<byte> value)
            ? BinaryPrimitives.ReadInt64LittleEndian(value)
            : 0;

    /// <summary>Stores the etag, before the index reads anything.</summary>
    public static void Write(StorageEnvironment store, long etag) => store.Write(
        transaction =>
        {
            BinaryPrimitives.WriteInt64LittleEndian(transaction.GetOrCreateTree(TreeName).Reserve(_key, sizeof(long)), etag);
            return true;
        });
}
