using System.Runtime.InteropServices;

namespace Treepie.Storage.Format;

/// <summary>
/// Validates pages of hash maps, like <see cref="PageShape"/> does for pages of trees: checks that every offset and length
/// lies within the page, before it is followed.
/// </summary>
internal static class MapShape
{
    private const int TagsOffset = 80;
    private const int GroupSize = 16;
    private const int LineBytes = 64;
    private const int CellHeadBytes = 4;
    private const int OverflowFlag = 0x8000;

    /// <summary>Returns the fault of a directory page, or null.</summary>
    public static string? FindDirectoryFault(ReadOnlySpan<byte> page)
    {
        int level = page[PageLayout.LevelOffset];
        if (level >= MapLayout.MaxLevels)
            return $"a directory of a map has level {level}";

        MapHeader header = MapLayout.Read(page);
        long most = 1L << (MapLayout.FanoutBits * (level + 1));
        int keyText = UInt16(page, 98), valueText = UInt16(page, 100);
        return header.Buckets < 0
            || header.Buckets > most
            || keyText > MapLayout.MaxDescriptionBytes
            || valueText > MapLayout.MaxDescriptionBytes
            ? $"a directory of level {level} says it has {header.Buckets} buckets, and descriptions of {keyText} and {valueText} "
                + $"bytes"
            : null;
    }

    /// <summary>Returns the fault of a bucket, or null.</summary>
    public static string? FindBucketFault(ReadOnlySpan<byte> page)
    {
        int count = UInt16(page, PageLayout.CountOffset),
            slots = UInt16(page, MapLayout.SlotsOffset),
            record = UInt16(page, MapLayout.RecordOffset);
        bool isFixed = record != MapLayout.RecordOfCells;
        int slotsEnd = isFixed
            ? ((TagsOffset + slots + LineBytes - 1) & -LineBytes) + (slots * record)
            : TagsOffset + (slots * (1 + sizeof(ushort)));
        int heapStart = UInt16(page, PageLayout.HeapStartOffset);
        if (slots == 0
            || slots % GroupSize != 0
            || slotsEnd > heapStart
            || heapStart > page.Length
            || (isFixed && heapStart != page.Length))
            return $"{slots} slots of {(isFixed ? record : sizeof(ushort))} bytes do not fit before the heap at {heapStart}";

        int used = 0, cells = 0;
        for (int slot = 0; slot < slots; slot++)
        {
            if (page[TagsOffset + slot] == 0)
                continue;

            used++;
            if (isFixed)
                continue;

            int cell = UInt16(page, TagsOffset + slots + (slot * sizeof(ushort)));
            if (cell < heapStart || cell + CellHeadBytes > page.Length)
                return $"record {slot} lies at {cell}, outside the heap";

            int key = UInt16(page, cell), info = UInt16(page, cell + 2);
            int value = info & ~OverflowFlag;
            if (cell + CellHeadBytes + key + value > page.Length
                || ((info & OverflowFlag) != 0 && value != OverflowReference.PackedBytes))
                return $"record {slot} has a key of {key} and a value of {value} bytes at {cell}";
            if ((info & OverflowFlag) != 0 && !OverflowReference.ReadPacked(page[(cell + CellHeadBytes + key)..]).IsPossible)
                return $"record {slot} refers to a value of an impossible length";
            cells += CellHeadBytes + key + value;
        }

        if (used != count)
            return $"{used} records found, {count} counted";
        int garbage = UInt16(page, PageLayout.GarbageOffset);
        return cells + garbage == page.Length - heapStart
            ? null
            : $"its records use {cells} bytes and {garbage} are given up, but the heap has {page.Length - heapStart}";
    }

    private static int UInt16(ReadOnlySpan<byte> page, int offset) => MemoryMarshal.Read<ushort>(page[offset..]);
}
