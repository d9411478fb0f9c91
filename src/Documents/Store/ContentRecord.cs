using System.Buffers.Binary;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>
/// The value of an attachment content, with its SHA-256 as the key, in the tree <see cref="TreeNames.ContentsByHash"/>,
/// little-endian: 8 number, 8 length in bytes, 8 number of attachments that refer to it. Its chunks are in
/// <see cref="TreeNames.Contents"/>, with number (8) and position (4), big-endian, as the key; all but the last have
/// <see cref="PieceBytes"/>.
/// </summary>
/// <param name="Id">The number of the content.</param>
/// <param name="SizeBytes">The length in bytes.</param>
/// <param name="References">The number of attachments that refer to it.</param>
internal readonly record struct ContentRecord(long Id, long SizeBytes, long References)
{
    /// <summary>The size of a chunk: large enough for few commits, small enough to hold many in memory.</summary>
    public const int PieceBytes = 1024 * 1024;

    /// <summary>The size of a hash in bytes.</summary>
    public const int HashBytes = 32;

    private const int RecordBytes = 3 * sizeof(long);

    public static ContentRecord Read(ReadOnlySpan<byte> value) =>
        new(
            BinaryPrimitives.ReadInt64LittleEndian(value), BinaryPrimitives.ReadInt64LittleEndian(value[8..]),
            BinaryPrimitives.ReadInt64LittleEndian(value[16..]));

    public void Write(Tree byHash, ReadOnlySpan<byte> hash)
    {
        Span<byte> value = byHash.Reserve(hash, RecordBytes);
        BinaryPrimitives.WriteInt64LittleEndian(value, Id);
        BinaryPrimitives.WriteInt64LittleEndian(value[8..], SizeBytes);
        BinaryPrimitives.WriteInt64LittleEndian(value[16..], References);
    }

    public static byte[] IdKey(long id)
    {
        byte[] key = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, id);
        return key;
    }

    public static byte[] PieceKey(long id, int number)
    {
        byte[] key = new byte[sizeof(long) + sizeof(int)];
        BinaryPrimitives.WriteInt64BigEndian(key, id);
        BinaryPrimitives.WriteInt32BigEndian(key.AsSpan(sizeof(long)), number);
        return key;
    }

    public static long IdOf(ReadOnlySpan<byte> key) => BinaryPrimitives.ReadInt64BigEndian(key);

    public static int NumberOf(ReadOnlySpan<byte> key) => BinaryPrimitives.ReadInt32BigEndian(key[sizeof(long)..]);
}
