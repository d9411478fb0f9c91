using System.Buffers.Binary;

namespace Treepie.Indexing.Postings;

/// <summary>Keys of a postings tree: list id, then first window of the segment, both 8 bytes, big-endian.</summary>
internal static class PostingKey
{
    public const int Bytes = 16;

    public static void Write(Span<byte> output, long listId, long firstWindow)
    {
        BinaryPrimitives.WriteInt64BigEndian(output, listId);
        BinaryPrimitives.WriteInt64BigEndian(output[8..], firstWindow);
    }

    public static bool IsOf(ReadOnlySpan<byte> key, long listId) => BinaryPrimitives.ReadInt64BigEndian(key) == listId;

    public static long FirstWindow(ReadOnlySpan<byte> key) => BinaryPrimitives.ReadInt64BigEndian(key[8..]);
}
