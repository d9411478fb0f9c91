using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Format;

/// <summary>
/// Describes a rewritten or split leaf or branch by the cells that it shares with its original at other offsets: a few bytes
/// per range instead of the whole page. One in fifty changes of a value rewrites the page, and without this that one would
/// need more journal space than the other forty-nine.
/// </summary>
/// <remarks>
/// Compares the contents of the two pages, regardless of how one became the other: the ranges always rebuild the page from
/// its original, byte for byte.
/// </remarks>
internal static class PageMoves
{
    private const int CellHeadBytes = 4;
    private const int OverflowFlag = 0x8000;
    private const int HeadBytes = 4;
    private const int SlotBytes = 2;
    private const int HeadStep = 8;
    private const int WordBytes = 8;

    /// <summary>
    /// Writes the ranges that rebuild a page from its original. Returns false if the two pages are of different kinds or the
    /// result would not be shorter than the page; the ranges written are invalid then.
    /// </summary>
    /// <param name="ranges">The destination.</param>
    /// <param name="page">The page.</param>
    /// <param name="original">The original page.</param>
    /// <param name="different">The words in which they differ.</param>
    public static bool TryWrite(
        ref RangeList ranges, scoped ReadOnlySpan<byte> page, scoped ReadOnlySpan<byte> original,
        scoped ReadOnlySpan<ulong> different)
    {
        if (!IsSlotted(page)
            || page[PageLayout.TypeOffset] != original[PageLayout.TypeOffset]
            || UInt16(page, PageLayout.GarbageOffset) != 0
            || PageShape.FindFault(page) is not null || PageShape.FindFault(original) is not null)
            return false;

        int count = UInt16(page, PageLayout.CountOffset),
            slots = SlotsStart(count),
            slotsEnd = slots + (count * SlotBytes),
            heapStart = UInt16(page, PageLayout.HeapStartOffset);
        if (page[slotsEnd..heapStart].ContainsAnyExcept((byte)0))
            return false;

        // Header, key heads and slots are compared; from there to the heap there are zeros; then cells and, without garbage,
        // only the prefix.
        int words = slotsEnd / WordBytes;
        ranges.AddDifferent(page, original, different, words);
        ranges.AddBytes(words * WordBytes, page[(words * WordBytes)..slotsEnd]);
        ranges.AddZeros(slotsEnd, heapStart - slotsEnd);
        AddCells(ref ranges, page, original);
        Add(
            ref ranges, page, original, UInt16(page, PageLayout.PrefixOffsetOffset),
            UInt16(original, PageLayout.PrefixOffsetOffset), UInt16(page, PageLayout.PrefixLengthOffset),
            UInt16(original, PageLayout.PrefixLengthOffset));
        return ranges.IsShort;
    }

    /// <summary>Returns the end of the slots of a leaf or branch, or 0 for other pages.</summary>
    public static int IndexEnd(ReadOnlySpan<byte> page)
    {
        int count = UInt16(page, PageLayout.CountOffset);
        return IsSlotted(page) ? SlotsStart(count) + (count * SlotBytes) : 0;
    }

    /// <summary>
    /// Adds cells from the last entry to the first, so that cells written one after the other are adjacent and form one range
    /// if they were adjacent before.
    /// </summary>
    private static void AddCells(ref RangeList ranges, scoped ReadOnlySpan<byte> page, scoped ReadOnlySpan<byte> original)
    {
        int slots = SlotsStart(UInt16(page, PageLayout.CountOffset)),
            oldSlots = SlotsStart(UInt16(original, PageLayout.CountOffset));
        int old = UInt16(original, PageLayout.CountOffset) - 1;
        for (int entry = UInt16(page, PageLayout.CountOffset) - 1; entry >= 0 && ranges.IsShort; entry--)
        {
            int cell = UInt16(page, slots + (entry * SlotBytes)), cellBytes = CellBytes(page, cell);
            int oldCell = 0, order = -1;
            for (; old >= 0; old--)
            {
                oldCell = UInt16(original, oldSlots + (old * SlotBytes));
                order = Key(original, oldCell).SequenceCompareTo(Key(page, cell));
                if (order <= 0)
                    break;
            }

            if (order == 0 && old >= 0)
            {
                Add(ref ranges, page, original, cell, oldCell, cellBytes, CellBytes(original, oldCell));
                old--;
            }
            else
            {
                ranges.AddBytes(cell, page.Slice(cell, cellBytes));
            }
        }
    }

    private static void Add(
        ref RangeList ranges, scoped ReadOnlySpan<byte> page, scoped ReadOnlySpan<byte> original, int at, int oldAt,
        int lengthBytes, int oldLengthBytes)
    {
        ReadOnlySpan<byte> bytes = page.Slice(at, lengthBytes);
        if (lengthBytes == 0)
            return;
        if (lengthBytes != oldLengthBytes || !bytes.SequenceEqual(original.Slice(oldAt, lengthBytes)))
            ranges.AddBytes(at, bytes);
        else if (at != oldAt)
            ranges.AddMove(at, oldAt, lengthBytes);
    }

    private static bool IsSlotted(ReadOnlySpan<byte> page) =>
        (PageType)page[PageLayout.TypeOffset] is PageType.Leaf or PageType.Branch;

    private static int SlotsStart(int count) =>
        PageLayout.HeaderBytes + ((count + HeadStep - 1) / HeadStep * HeadStep * HeadBytes);

    private static int CellBytes(ReadOnlySpan<byte> page, int cell) =>
        CellHeadBytes + UInt16(page, cell) + (UInt16(page, cell + 2) & ~OverflowFlag);

    private static ReadOnlySpan<byte> Key(ReadOnlySpan<byte> page, int cell) =>
        page.Slice(cell + CellHeadBytes, UInt16(page, cell));

    private static int UInt16(ReadOnlySpan<byte> page, int offset) => MemoryMarshal.Read<ushort>(page[offset..]);

    /// <summary>The ranges of a page, while they are collected; see <see cref="JournalPayload"/>.</summary>
    internal ref struct RangeList(Span<byte> destination)
    {
        private readonly Span<byte> _destination = destination;
        private int _last = -1;
        private int _end;
        private int _fromEnd;

        /// <summary>The number of bytes written.</summary>
        public int LengthBytes { get; private set; }

        /// <summary>The number of ranges written.</summary>
        public int Count { get; private set; }

        /// <summary>Whether the ranges are shorter than a page so far. If not, nothing more is written.</summary>
        public bool IsShort { get; private set; } = true;

        /// <summary>Adds the words that differ, up to a limit.</summary>
        public void AddDifferent(
            scoped ReadOnlySpan<byte> page, scoped ReadOnlySpan<byte> original, scoped ReadOnlySpan<ulong> different, int words)
        {
            Debug.Assert(
                words * WordBytes <= page.Length && page.Length == original.Length, "the words are in both pages");
            for (int start = 0; (start = WordDifference.Next(different, start, isSet: true)) < words;)
            {
                int end = Math.Min(words, WordDifference.Next(different, start, isSet: false));
                AddBytes(start * WordBytes, page[(start * WordBytes)..(end * WordBytes)]);
                start = end;
            }
        }

        /// <summary>Adds a range with its bytes.</summary>
        public void AddBytes(int offset, scoped ReadOnlySpan<byte> bytes)
        {
            Debug.Assert(offset >= 0 && offset + bytes.Length <= PageLayout.SizeBytes, "a range lies in its page");
            if (bytes.IsEmpty)
                return;

            bool isNext = _last >= 0 && _end == offset && _fromEnd < 0;
            if (!TryTake(isNext ? bytes.Length : JournalPayload.RangeHeadBytes + bytes.Length, out Span<byte> room))
                return;

            Begin(isNext, ref room, offset, bytes.Length, flag: 0);
            bytes.CopyTo(room);
            _fromEnd = -1;
        }

        /// <summary>Adds a range that the original has at another offset.</summary>
        public void AddMove(int offset, int from, int lengthBytes)
        {
            Debug.Assert(from >= 0 && from + lengthBytes <= PageLayout.SizeBytes, "a range lies in the page it was copied from");
            bool isNext = _last >= 0 && _end == offset && _fromEnd == from;
            if (!TryTake(isNext ? 0 : JournalPayload.RangeHeadBytes + sizeof(ushort), out Span<byte> room))
                return;

            Begin(isNext, ref room, offset, lengthBytes, JournalPayload.MovedFlag);
            if (!isNext)
                BinaryPrimitives.WriteUInt16LittleEndian(room, (ushort)from);
            _fromEnd = from + lengthBytes;
        }

        /// <summary>Adds a range of zeros.</summary>
        public void AddZeros(int offset, int lengthBytes)
        {
            if (lengthBytes == 0 || !TryTake(JournalPayload.RangeHeadBytes + sizeof(ushort), out Span<byte> room))
                return;

            Begin(isNext: false, ref room, offset, lengthBytes, JournalPayload.MovedFlag);
            BinaryPrimitives.WriteUInt16LittleEndian(room, JournalPayload.Zeros);
            _fromEnd = -1;
            _last = -1;
        }

        private bool TryTake(int lengthBytes, out Span<byte> room)
        {
            IsShort = IsShort && LengthBytes + lengthBytes < PageLayout.SizeBytes - JournalPayload.PageHeadBytes;
            room = IsShort ? _destination.Slice(LengthBytes, lengthBytes) : default;
            return IsShort;
        }

        /// <summary>
        /// Writes the header of a new range or extends the last one. Returns in <paramref name="room"/> the space for the
        /// content.
        /// </summary>
        private void Begin(bool isNext, ref Span<byte> room, int offset, int lengthBytes, int flag)
        {
            LengthBytes += room.Length;
            _end = offset + lengthBytes;
            Debug.Assert(offset >= 0 && lengthBytes > 0 && _end <= PageLayout.SizeBytes, "a range lies in the page");
            if (isNext)
            {
                Span<byte> before = _destination.Slice(_last + sizeof(ushort), sizeof(ushort));
                BinaryPrimitives.WriteUInt16LittleEndian(
                    before, (ushort)(BinaryPrimitives.ReadUInt16LittleEndian(before) + lengthBytes));
                return;
            }

            _last = LengthBytes - room.Length;
            Count++;
            BinaryPrimitives.WriteUInt16LittleEndian(room, (ushort)offset);
            BinaryPrimitives.WriteUInt16LittleEndian(room[sizeof(ushort)..], (ushort)(lengthBytes | flag));
            room = room[JournalPayload.RangeHeadBytes..];
        }
    }
}
