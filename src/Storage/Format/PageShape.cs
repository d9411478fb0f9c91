using System.Buffers.Binary;
using System.Runtime.InteropServices;

namespace Treepie.Storage.Format;

/// <summary>
/// Validates the internal structure of a page: every offset and length lies within the page, and every entry has the size
/// required by the page type. Done once per page, when it is first accessed or comes from a frame, so that readers need not
/// check each step.
/// </summary>
/// <remarks>
/// A checksum shows that a page is as it was written; this shows that the writer followed the rules (see SlottedPage). It
/// checks sizes, not the order of keys, which only a full check verifies. Takes about a nanosecond per entry.
/// </remarks>
internal static class PageShape
{
    private const int CellHeadBytes = 4;
    private const int OverflowFlag = 0x8000;
    private const int HeadBytes = 4;
    private const int SlotBytes = 2;
    private const int HeadStep = 8;

    /// <summary>
    /// Returns type and level of a tree page as one number, the 16 bits at <see cref="PageLayout.TypeOffset"/>.
    /// </summary>
    public static int KindOf(int level) => level == 0 ? (int)PageType.Leaf : (int)PageType.Branch | (level << 8);

    /// <summary>Returns the fault of a page whose header is right, or null.</summary>
    public static string? FindFault(ReadOnlySpan<byte> page)
    {
        var type = (PageType)page[PageLayout.TypeOffset];
        return type switch
        {
            PageType.Leaf => FindSlottedFault(page, isLeaf: true),
            PageType.Branch => FindSlottedFault(page, isLeaf: false),
            PageType.Overflow => BinaryPrimitives.ReadInt32LittleEndian(page[PageLayout.ValueLengthOffset..]) is < 0
                or > FormatLimits.MaxValueBytes
                ? "its value has an impossible length"
                : null,
            PageType.Bitmap => null,
            PageType.MapDirectory => MapShape.FindDirectoryFault(page),
            PageType.MapBucket => MapShape.FindBucketFault(page),
            _ => $"a page of type {(int)type} has no place here",
        };
    }

    private static string? FindSlottedFault(ReadOnlySpan<byte> page, bool isLeaf)
    {
        int count = UInt16(page, PageLayout.CountOffset);
        int heapStart = UInt16(page, PageLayout.HeapStartOffset);
        int prefixOffset = UInt16(page, PageLayout.PrefixOffsetOffset),
            prefixLength = UInt16(page, PageLayout.PrefixLengthOffset);
        int slots = PageLayout.HeaderBytes + ((count + HeadStep - 1) / HeadStep * HeadStep * HeadBytes);
        if (heapStart > PageLayout.SizeBytes || slots + (count * SlotBytes) > heapStart)
            return $"{count} entries do not fit before the heap at {heapStart}";
        if (prefixLength > 0
            && (prefixOffset < heapStart
                || prefixOffset + prefixLength > PageLayout.SizeBytes
                || prefixLength > FormatLimits.MaxKeyBytes))
            return $"a prefix of {prefixLength} bytes at {prefixOffset} lies outside the heap";
        if (isLeaf != (page[PageLayout.LevelOffset] == 0) || (!isLeaf && count == 0))
            return $"a page of type {(isLeaf ? "leaf" : "branch")} has level {page[PageLayout.LevelOffset]} and {count} entries";

        int used = prefixLength;
        for (int i = 0; i < count; i++)
        {
            int cell = UInt16(page, slots + (i * SlotBytes));
            if (cell < heapStart || cell + CellHeadBytes > PageLayout.SizeBytes)
                return $"entry {i} lies at {cell}, outside the heap";

            int key = UInt16(page, cell), info = UInt16(page, cell + 2);
            int value = info & ~OverflowFlag;
            if (prefixLength + key > FormatLimits.MaxKeyBytes || cell + CellHeadBytes + key + value > PageLayout.SizeBytes)
                return $"entry {i} has a key of {prefixLength + key} and a value of {value} bytes at {cell}";

            bool isOverflow = (info & OverflowFlag) != 0;
            if (isLeaf ? isOverflow && value != OverflowReference.PackedBytes : isOverflow || value != PageReference.PackedBytes)
                return $"entry {i} has a reference of {value} bytes";
            if (CellHeadBytes + prefixLength + key + value > FormatLimits.MaxCellBytes)
                return $"entry {i} has {CellHeadBytes + prefixLength + key + value} bytes";

            used += CellHeadBytes + key + value;
        }

        int garbage = UInt16(page, PageLayout.GarbageOffset);
        return used + garbage == PageLayout.SizeBytes - heapStart
            ? null
            : $"its entries use {used} bytes and {garbage} are given up, but the heap has {PageLayout.SizeBytes - heapStart}";
    }

    private static int UInt16(ReadOnlySpan<byte> page, int offset) => MemoryMarshal.Read<ushort>(page[offset..]);
}
