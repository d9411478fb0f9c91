using System.Buffers.Binary;
using System.Runtime.InteropServices;

namespace Treepie.Indexing.Spatial;

/// <summary>
/// The points of one spatial field for up to 64 neighbouring entries, read in place. Key in the tree: chunk number (entry id /
/// 64), 8 bytes big-endian.
/// <code>
/// OFFSET   SIZE  MEANING
/// 0        1     n, slots; entries after the last slot have no value
/// 1        8     one bit per entry, set if its only value is a point, little-endian
/// 9        8     one bit per entry, set if it has a shape or several values, which are in the tree of shapes
/// 17       4·n   X of each slot, little-endian, see GridPoint
/// 17+4·n   4·n   Y of each slot
/// </code>
/// </summary>
internal readonly ref struct PointChunk(ReadOnlySpan<byte> bytes)
{
    public const int EntryBits = 6;
    public const int Entries = 1 << EntryBits;
    public const int HeadBytes = 17;
    public const int MaxBytes = HeadBytes + (Entries * 2 * sizeof(uint));

    private readonly ReadOnlySpan<byte> _bytes = bytes;

    public int Count => _bytes.IsEmpty ? 0 : _bytes[0];

    public ulong Points => _bytes.IsEmpty ? 0 : BinaryPrimitives.ReadUInt64LittleEndian(_bytes[1..]);

    public ulong Shapes => _bytes.IsEmpty ? 0 : BinaryPrimitives.ReadUInt64LittleEndian(_bytes[9..]);

    public ReadOnlySpan<uint> Xs => MemoryMarshal.Cast<byte, uint>(_bytes.Slice(HeadBytes, Count * sizeof(uint)));

    public ReadOnlySpan<uint> Ys =>
        MemoryMarshal.Cast<byte, uint>(_bytes.Slice(HeadBytes + (Count * sizeof(uint)), Count * sizeof(uint)));

    public GridPoint this[int slot] => new(Xs[slot], Ys[slot]);
}
