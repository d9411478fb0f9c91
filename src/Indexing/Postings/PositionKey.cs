using System.Buffers.Binary;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Keys of a positions tree: list id and first window of the posting segment (8 bytes each), then the rank of the first posting
/// (2), all big-endian. The value:
/// <code>
/// OFFSET  SIZE  MEANING
/// a segment of n &gt; 1 windows has one block, with rank 0:
/// 0       2·n   start of the positions of each window, relative to the end of this table
/// 2n      …     positions, by window, by rank
/// a segment of one window has one or more blocks, split between postings:
/// 0       2     number of postings in the block
/// 2       …     positions, by rank
/// </code>
/// A posting has as many positions as its frequency: the first position, then distances, in 7-bit groups.
/// </summary>
internal static class PositionKey
{
    public const int Bytes = PostingKey.Bytes + sizeof(ushort);

    /// <summary>Longest block of more than one posting: a leaf holds four.</summary>
    public const int MaxBlockBytes = 1_990;

    public static void Write(Span<byte> output, long listId, long firstWindow, int rank)
    {
        PostingKey.Write(output, listId, firstWindow);
        BinaryPrimitives.WriteUInt16BigEndian(output[PostingKey.Bytes..], checked((ushort)rank));
    }

    public static bool IsOf(ReadOnlySpan<byte> key, long listId, long firstWindow) =>
        PostingKey.IsOf(key, listId) && PostingKey.FirstWindow(key) == firstWindow;

    public static int Rank(ReadOnlySpan<byte> key) => BinaryPrimitives.ReadUInt16BigEndian(key[PostingKey.Bytes..]);
}
