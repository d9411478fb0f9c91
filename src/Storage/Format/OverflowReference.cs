using System.Buffers.Binary;

namespace Treepie.Storage.Format;

/// <summary>
/// The contents of a cell in place of a long value: the first page of its overflow run, then 4 bytes length of the value.
/// </summary>
internal readonly record struct OverflowReference(PageReference First, int LengthBytes)
{
    public const int PackedBytes = PageReference.PackedBytes + sizeof(int);

    /// <summary>
    /// Whether the length is possible. Check it before using <see cref="Run"/> if the cell has not been validated.
    /// </summary>
    public bool IsPossible => LengthBytes is >= 0 and <= FormatLimits.MaxValueBytes;

    /// <summary>The pages of the value.</summary>
    public PageRun Run => new(First.Number, PageLayout.RunPages(LengthBytes));

    public static OverflowReference ReadPacked(ReadOnlySpan<byte> cell) =>
        new(PageReference.ReadPacked(cell), BinaryPrimitives.ReadInt32LittleEndian(cell[PageReference.PackedBytes..]));

    public void WritePacked(Span<byte> cell)
    {
        First.WritePacked(cell);
        BinaryPrimitives.WriteInt32LittleEndian(cell[PageReference.PackedBytes..], LengthBytes);
    }
}
