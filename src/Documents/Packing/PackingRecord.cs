using System.Buffers.Binary;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Packing;

/// <summary>
/// Compression state of a collection, stored in the tree <see cref="TreeNames.Packing"/> under the collection id. Layout,
/// little-endian: number of the dictionary (4 bytes), number of documents it was trained on (8), etag up to which all
/// documents were processed (8).
/// </summary>
internal readonly record struct PackingRecord(uint Dictionary, long TrainedOn, long UpTo)
{
    private const int Bytes = 20;

    public static PackingRecord? Find(Func<string, Tree?> find, int collectionId)
    {
        Span<byte> key = stackalloc byte[sizeof(int)];
        BinaryPrimitives.WriteInt32BigEndian(key, collectionId);
        return find(TreeNames.Packing) is { } tree && tree.TryGet(key, out ReadOnlySpan<byte> value) && value.Length >= Bytes
            ? new PackingRecord(
                BinaryPrimitives.ReadUInt32LittleEndian(value), BinaryPrimitives.ReadInt64LittleEndian(value[4..]),
                BinaryPrimitives.ReadInt64LittleEndian(value[12..]))
            : null;
    }

    public void Put(Tree tree, int collectionId)
    {
        Span<byte> key = stackalloc byte[sizeof(int)], value = stackalloc byte[Bytes];
        BinaryPrimitives.WriteInt32BigEndian(key, collectionId);
        BinaryPrimitives.WriteUInt32LittleEndian(value, Dictionary);
        BinaryPrimitives.WriteInt64LittleEndian(value[4..], TrainedOn);
        BinaryPrimitives.WriteInt64LittleEndian(value[12..], UpTo);
        tree.Put(key, value);
    }
}
