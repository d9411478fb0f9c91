using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Format;

/// <summary>
/// Says of a leaf or branch that was written anew, or divided, which of its cells are those of the page it was copied from,
/// elsewhere: a few bytes each instead of the whole page. A page is written anew for one in fifty changes of a value, and without
/// this that one would cost more journal than the other forty-nine.
/// </summary>
/// <remarks>
/// Works on what the two pages hold, not on how one became the other: whatever changed, the ranges make the one from the other,
/// byte for byte.
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
    /// Writes ranges that make a page from its original; false, having written nothing that counts, where the two are not of a
    /// kind or it would not be shorter than the page.
    /// </summary>
    /// <param name="ranges">Where they go.</param>
    /// <param name="page">The page.</param>
    /// <param name="original">What it was copied from.</param>
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

        // Header, heads and slots by comparison; what follows them to the heap is zeros; then cells, and without garbage nothing
        // else but the prefix.
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

    /// <summary>The byte behind the slots of a leaf or branch; of another page 0.</summary>
    public static int IndexEnd(ReadOnlySpan<byte> page)
    {
        int count = UInt16(page, PageLayout.CountOffset);
        return IsSlotted(page) ? SlotsStart(count) + (count * SlotBytes) : 0;
    }

    /// <summary>
    /// From the last entry to the first: so cells that were written one after the other follow each other, and are one range if
    /// they did before.
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

    /// <summary>The ranges of a page while they are put together; see <see cref="JournalPayload"/>.</summary>
    internal ref struct RangeList(Span<byte> destination)
    {
        private readonly Span<byte> _destination = destination;
        private int _last = -1;
        private int _end;
        private int _fromEnd;

        /// <summary>Bytes written.</summary>
        public int LengthBytes { get; private set; }

        /// <summary>Ranges written.</summary>
        public int Count { get; private set; }

        /// <summary>Whether they are shorter than a page so far; otherwise nothing more is written.</summary>
        public bool IsShort { get; private set; } = true;

        /// <summary>The words that differ, up to one.</summary>
        public void AddDifferent(
            scoped ReadOnlySpan<byte> page, scoped ReadOnlySpan<byte> original, scoped ReadOnlySpan<ulong> different, int words)
        {
            for (int start = 0; (start = WordDifference.Next(different, start, isSet: true)) < words;)
            {
                int end = Math.Min(words, WordDifference.Next(different, start, isSet: false));
                AddBytes(start * WordBytes, page[(start * WordBytes)..(end * WordBytes)]);
                start = end;
            }
        }

        /// <summary>Bytes as they are.</summary>
        public void AddBytes(int offset, scoped ReadOnlySpan<byte> bytes)
        {
            if (bytes.IsEmpty)
                return;

            bool isNext = _last >= 0 && _end == offset && _fromEnd < 0;
            if (!TryTake(isNext ? bytes.Length : JournalPayload.RangeHeadBytes + bytes.Length, out Span<byte> room))
                return;

            Begin(isNext, ref room, offset, bytes.Length, flag: 0);
            bytes.CopyTo(room);
            _fromEnd = -1;
        }

        /// <summary>Bytes that the original has elsewhere.</summary>
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

        /// <summary>Zeros.</summary>
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

        /// <summary>The head of a new range, or more length for the last one; the room for what follows remains.</summary>
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
