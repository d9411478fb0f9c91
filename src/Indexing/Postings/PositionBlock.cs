using System.Buffers.Binary;

namespace Treepie.Indexing.Postings;

/// <summary>
/// The positions of a segment of several windows, read in place, see <see cref="PositionKey"/>; empty if the list has none.
/// </summary>
/// <param name="bytes">The value.</param>
/// <param name="count">Windows of the segment.</param>
internal readonly ref struct PositionBlock(ReadOnlySpan<byte> bytes, int count)
{
    private readonly ReadOnlySpan<byte> _bytes = bytes;
    private readonly int _count = count;

    /// <summary>The encoded starts of the positions of the first <paramref name="windows"/> windows.</summary>
    public ReadOnlySpan<byte> StartsOf(int windows) => _bytes.IsEmpty ? default : _bytes[..(windows * sizeof(ushort))];

    /// <summary>The positions of the first <paramref name="windows"/> windows.</summary>
    public ReadOnlySpan<byte> PositionsOf(int windows) =>
        _bytes.IsEmpty ? default : _bytes[(_count * sizeof(ushort))..EndOf(windows)];

    /// <summary>The positions of one window.</summary>
    public ReadOnlySpan<byte> PositionsAt(int window) => _bytes.IsEmpty ? default : _bytes[EndOf(window)..EndOf(window + 1)];

    /// <summary>The end of the positions of the first <paramref name="windows"/> windows.</summary>
    private int EndOf(int windows) =>
        windows == _count
            ? _bytes.Length
            : (_count * sizeof(ushort)) + BinaryPrimitives.ReadUInt16LittleEndian(_bytes[(windows * sizeof(ushort))..]);
}
