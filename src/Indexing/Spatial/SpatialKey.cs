using System.Buffers.Binary;

namespace Treepie.Indexing.Spatial;

/// <summary>
/// Keys of a spatial field's trees, big-endian, so that neighbours on the curve are neighbours in the tree.
/// <code>
/// TREE      KEY                                                     VALUE
/// cells.N   cell (8), entry id (8)                                  nothing: a point of the entry; one byte: the centre of a
///                                                                   shape of the entry, for distances only
/// covers.N  first cell of a square (8), its level (1), entry id (8) nothing: a shape of the entry overlaps the square
/// </code>
/// </summary>
internal static class SpatialKey
{
    public const int CellBytes = 16;
    public const int CoverBytes = 17;

    public static ReadOnlySpan<byte> WriteCell(Span<byte> output, ulong cell, long entryId)
    {
        BinaryPrimitives.WriteUInt64BigEndian(output, cell);
        BinaryPrimitives.WriteInt64BigEndian(output[8..], entryId);
        return output[..CellBytes];
    }

    public static ulong Cell(ReadOnlySpan<byte> key) => BinaryPrimitives.ReadUInt64BigEndian(key);

    public static long EntryOfCell(ReadOnlySpan<byte> key) => BinaryPrimitives.ReadInt64BigEndian(key[8..]);

    public static ReadOnlySpan<byte> WriteCover(Span<byte> output, CellSquare square, long entryId)
    {
        BinaryPrimitives.WriteUInt64BigEndian(output, square.First);
        output[8] = (byte)square.Level;
        BinaryPrimitives.WriteInt64BigEndian(output[9..], entryId);
        return output[..CoverBytes];
    }

    public static CellSquare Square(ReadOnlySpan<byte> key) => new(BinaryPrimitives.ReadUInt64BigEndian(key), key[8]);

    public static long EntryOfCover(ReadOnlySpan<byte> key) => BinaryPrimitives.ReadInt64BigEndian(key[9..]);
}
