using System.Buffers.Binary;

namespace Treepie.Storage.Format;

/// <summary>What a cell holds in place of a long value: the first page of its overflow run, then 4 bytes of the value.</summary>
internal readonly record struct OverflowReference(PageReference First, int LengthBytes)
{
    public const int PackedBytes = PageReference.PackedBytes + sizeof(int);

    /// <summary>Whether a value can be so long: before it is asked for its pages, where nobody has looked at the cell.</summary>
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
