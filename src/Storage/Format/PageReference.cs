using System.Buffers.Binary;

namespace Treepie.Storage.Format;

/// <summary>
/// A reference to a page by its parent. In cells both numbers have 6 bytes: 2^48 pages of 8 KiB are 2 EiB, and 2^48
/// transactions take 89 years at 100,000 per second.
/// </summary>
internal readonly record struct PageReference(long Number, long Birth)
{
    public const int PackedBytes = 12;

    private const long Mask = (1L << 48) - 1;

    public bool IsNone => Number == 0;

    public static PageReference ReadPacked(ReadOnlySpan<byte> source) => new(
        BinaryPrimitives.ReadInt64LittleEndian(source) & Mask,
        (long)(BinaryPrimitives.ReadUInt64LittleEndian(source[4..]) >> 16));

    public void WritePacked(Span<byte> destination)
    {
        BinaryPrimitives.WriteInt64LittleEndian(destination, (Number & Mask) | (Birth << 48));
        BinaryPrimitives.WriteInt32LittleEndian(destination[8..], (int)(Birth >> 16));
    }
}
