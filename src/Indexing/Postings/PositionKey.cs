using System.Buffers.Binary;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Keys of a positions tree: list id and first window of the posting segment they belong to (8 bytes each), then the rank of the
/// first posting (2), all big-endian. The value:
/// <code>
/// OFFSET  SIZE  MEANING
/// a segment of n &gt; 1 windows is one block, of rank 0:
/// 0       2·n   where the positions of each window begin; places count from behind this table
/// 2n      …     positions, by window, by rank
/// a segment of one window is one block or more, cut between postings:
/// 0       2     postings in the block
/// 2       …     positions, by rank
/// </code>
/// The positions of a posting are as many numbers as its frequency: the first position, then distances, in 7-bit groups.
/// </summary>
internal static class PositionKey
{
    public const int Bytes = PostingKey.Bytes + sizeof(ushort);

    /// <summary>Longest block of more than one posting: four of them fill a leaf.</summary>
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
