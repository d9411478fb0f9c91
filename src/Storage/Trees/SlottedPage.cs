using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Treepie.Storage.Format;
using Treepie.Storage.Kernels;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Trees;

/// <summary>
/// The contents of a leaf or branch: keys in order, each with a few bytes of value. The common prefix of all keys is stored
/// once.
/// <code>
/// OFFSET           SIZE  MEANING
///     64      4 x room  heads: the first four bytes of each entry's key after the prefix, as a big-endian number,
///                       padded with zeros; room = entries rounded up to a multiple of 8
///      .   2 x entries  slots: offset of each entry's cell
///      .                unused gap
///  heap start           cells and the prefix, in no order, up to the page's end
///
/// cell: 2 bytes of key after the prefix | 2 bytes of value; bit 15: see below | key | value
///   leaf, bit 15 set   the value is a reference to an overflow run: 6 page, 6 birth, 4 bytes of the value
///   branch             the value is a reference to a child: 6 page, 6 birth. The key of entry 0 has no meaning: its child
///                      holds all keys below entry 1. Child i holds keys from key i up to below key i + 1
/// </code>
/// </summary>
/// <remarks>
/// Invariants. 1. Keys ascend. 2. Slots end where the heap starts or before it. 3. The heap consists of cells, the
/// prefix, and as many bytes of garbage as the header says. 4. Every key begins with the prefix.
/// </remarks>
internal readonly ref struct SlottedPage(Span<byte> bytes)
{
    public const int CellHeadBytes = 4;
    public const int OverflowFlag = 0x8000;

    private const int HeadBytes = 4;
    private const int SlotBytes = 2;
    private const int HeadStep = 8;

    private readonly Span<byte> _bytes = bytes;

    /// <summary>The page header.</summary>
    public Page Header => new(_bytes);

    /// <summary>Number of entries.</summary>
    public int Count => MemoryMarshal.Read<ushort>(_bytes[PageLayout.CountOffset..]);

    /// <summary>The common prefix of all keys.</summary>
    public ReadOnlySpan<byte> Prefix => _bytes.Slice(Header.PrefixOffset, Header.PrefixLength);

    /// <summary>Number of bytes between slots and heap.</summary>
    public int GapBytes => Header.HeapStart - SlotsEnd(Count);

    /// <summary>Number of bytes that would be free after a compaction.</summary>
    public int FreeBytes => GapBytes + Header.Garbage;

    /// <summary>Number of bytes in use after the header.</summary>
    public int UsedBytes => PageLayout.ContentBytes - FreeBytes;

    private Span<uint> Heads => MemoryMarshal.Cast<byte, uint>(_bytes.Slice(PageLayout.HeaderBytes, Count * HeadBytes));

    /// <summary>Maximum number of bytes that an entry takes, including its head and slot.</summary>
    public static int EntryBytes(int keyBytes, int valueBytes) => CellHeadBytes + keyBytes + valueBytes + HeadBytes + SlotBytes;

    /// <summary>Number of head bytes left unused by this many entries, because heads are allocated in steps.</summary>
    public static int UnusedHeadBytes(int count) => SlotsStart(count) - PageLayout.HeaderBytes - (count * HeadBytes);

    /// <summary>Removes all entries and the prefix of a page that has a header.</summary>
    public void Clear()
    {
        Page header = Header;
        _bytes[PageLayout.HeaderBytes..].Clear();
        header.Count = 0;
        header.HeapStart = PageLayout.SizeBytes;
        header.Garbage = 0;
        header.PrefixOffset = 0;
        header.PrefixLength = 0;
    }

    /// <summary>Returns the key of an entry after the prefix.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ReadOnlySpan<byte> Suffix(int index)
    {
        int cell = CellOffset(index);
        return _bytes.Slice(cell + CellHeadBytes, MemoryMarshal.Read<ushort>(_bytes[cell..]));
    }

    /// <summary>Returns the value of an entry as stored in the cell, and whether it refers to an overflow run.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Value(int index, out bool isOverflow)
    {
        int cell = CellOffset(index);
        int info = MemoryMarshal.Read<ushort>(_bytes[(cell + 2)..]);
        isOverflow = (info & OverflowFlag) != 0;
        return _bytes.Slice(cell + CellHeadBytes + MemoryMarshal.Read<ushort>(_bytes[cell..]), info & ~OverflowFlag);
    }

    /// <summary>The offsets of all cells, in key order.</summary>
    public ReadOnlySpan<ushort> Slots => MemoryMarshal.Cast<byte, ushort>(_bytes.Slice(SlotsStart(Count), Count * SlotBytes));

    /// <summary>Returns the cell at an offset.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Cell At(int offset)
    {
        uint head = MemoryMarshal.Read<uint>(_bytes[offset..]);
        int keyBytes = (int)(head & ushort.MaxValue), info = (int)(head >> 16);
        return new Cell(
            _bytes.Slice(offset + CellHeadBytes, keyBytes + (info & ~OverflowFlag)), keyBytes, (info & OverflowFlag) != 0);
    }

    /// <summary>Prefetches the first bytes of a range of cells, all at once, before they are read one by one.</summary>
    public void Prefetch(int first, int last, int bytes)
    {
        const int LineBytes = 64;
        foreach (ushort slot in Slots[first..(last + 1)])
        {
            for (int place = slot; place < Math.Min(slot + bytes, PageLayout.SizeBytes); place += LineBytes)
                RawValue.Prefetch(in _bytes[place]);
        }
    }

    /// <summary>Returns the child of a branch's entry.</summary>
    public PageReference Child(int index) => PageReference.ReadPacked(Value(index, out _));

    /// <summary>Returns the offset in the page of an entry's value.</summary>
    public int ValueOffset(int index)
    {
        int cell = CellOffset(index);
        return cell + CellHeadBytes + MemoryMarshal.Read<ushort>(_bytes[cell..]);
    }

    /// <summary>Points a branch's entry to another child.</summary>
    public void SetChild(int index, PageReference child)
    {
        Debug.Assert(Header.Type == PageType.Branch, "only branches have children");
        child.WritePacked(Value(index, out _));
    }

    /// <summary>
    /// Returns the first entry from <paramref name="from"/> on whose key is not below <paramref name="key"/>.
    /// </summary>
    public int LowerBound(scoped ReadOnlySpan<byte> key, int from, out bool isExact)
    {
        isExact = false;
        ReadOnlySpan<byte> prefix = Prefix;
        int count = Count;
        if (prefix.Length > 0)
        {
            if (!key.StartsWith(prefix))
                return key.SequenceCompareTo(prefix) < 0 ? from : count;
            key = key[prefix.Length..];
        }

        Debug.Assert((uint)from <= (uint)count, "a search begins among the entries or behind the last");
        uint head = HeadOf(key);
        ReadOnlySpan<uint> heads = Heads;
        int low = from + SortedSearch.LowerBound(heads[from..], head);
        if (low == count || heads[low] != head)
            return low;

        // Usually only one key has this head: step over a few, use binary search among many.
        int end = low + 1;
        while (end < count && heads[end] == head)
            end = Math.Min(count, end + Math.Max(1, end - low));
        while (end > low + 1 && heads[end - 1] != head)
            end--;
        while (low < end)
        {
            int middle = (low + end) >>> 1;
            int order = Suffix(middle).SequenceCompareTo(key);
            if (order == 0)
            {
                isExact = true;
                return middle;
            }

            if (order < 0)
                low = middle + 1;
            else
                end = middle;
        }

        return low;
    }

    /// <summary>Returns the entry of a branch whose child holds a key.</summary>
    public int FindChild(scoped ReadOnlySpan<byte> key)
    {
        int index = LowerBound(key, 1, out bool isExact);
        return isExact ? index : index - 1;
    }

    /// <summary>
    /// Inserts an entry and returns the span for its value; the page must have room for it without compaction. The key must
    /// begin with the page's prefix.
    /// </summary>
    public Span<byte> Insert(int index, scoped ReadOnlySpan<byte> key, int valueBytes, bool isOverflow)
    {
        Debug.Assert(key.StartsWith(Prefix), "4: every key begins with the prefix");
        Span<byte> value = InsertSuffix(index, key[Header.PrefixLength..], default, valueBytes, isOverflow);
        AssertOrderAt(index);
        return value;
    }

    /// <summary>Like <see cref="Insert"/>, for a key (after the prefix) in two parts.</summary>
    public Span<byte> InsertSuffix(
        int index, scoped ReadOnlySpan<byte> first, scoped ReadOnlySpan<byte> second, int valueBytes, bool isOverflow)
    {
        Page header = Header;
        int count = header.Count;
        int keyBytes = first.Length + second.Length;
        int cell = header.HeapStart - (CellHeadBytes + keyBytes + valueBytes);
        Debug.Assert((uint)index <= (uint)count, "an entry goes among the others or behind the last");
        Debug.Assert((uint)valueBytes < OverflowFlag, "a cell has fifteen bits for the length of its value");
        Debug.Assert(cell >= SlotsEnd(count + 1), "2: the caller has made sure of room");

        int slots = SlotsStart(count);
        int newSlots = SlotsStart(count + 1);
        if (newSlots != slots)
        {
            _bytes.Slice(slots, count * SlotBytes).CopyTo(_bytes[newSlots..]);
            _bytes[slots..newSlots].Clear();
        }

        int slot = newSlots + (index * SlotBytes);
        int moved = (count - index) * SlotBytes;
        _bytes.Slice(slot, moved).CopyTo(_bytes[(slot + SlotBytes)..]);
        header.WriteUInt16(slot, cell);

        int head = PageLayout.HeaderBytes + (index * HeadBytes);
        _bytes.Slice(head, (count - index) * HeadBytes).CopyTo(_bytes[(head + HeadBytes)..]);

        header.WriteUInt16(cell, keyBytes);
        header.WriteUInt16(cell + 2, valueBytes | (isOverflow ? OverflowFlag : 0));
        first.CopyTo(_bytes[(cell + CellHeadBytes)..]);
        second.CopyTo(_bytes[(cell + CellHeadBytes + first.Length)..]);
        MemoryMarshal.Write(_bytes[head..], HeadOf(_bytes.Slice(cell + CellHeadBytes, keyBytes)));
        header.HeapStart = cell;
        header.Count = count + 1;
        return _bytes.Slice(cell + CellHeadBytes + keyBytes, valueBytes);
    }

    /// <summary>
    /// Appends entries of another leaf. Their keys must be above all keys of this page and begin with its prefix, and there must
    /// be room for them without compaction.
    /// </summary>
    public void Append(SlottedPage source, int from, int to)
    {
        Span<byte> key = stackalloc byte[Tree.MaxKeyBytes];
        int prefixBytes = Header.PrefixLength;
        for (int i = from; i < to; i++)
        {
            ReadOnlySpan<byte> suffix = key[prefixBytes..source.CopyKey(i, key)];
            Span<byte> value = source.Value(i, out bool isOverflow);
            value.CopyTo(InsertSuffix(Count, suffix, default, value.Length, isOverflow));
        }
    }

    /// <summary>Whether an entry fits into the gap.</summary>
    public bool HasRoom(int suffixBytes, int valueBytes) =>
        Header.HeapStart - (CellHeadBytes + suffixBytes + valueBytes) >= SlotsEnd(Count + 1);

    /// <summary>
    /// Gives a value the same number of bytes or fewer, in place; the rest becomes garbage. Returns the span of the value.
    /// </summary>
    public Span<byte> ShrinkValue(int index, int valueBytes)
    {
        Debug.Assert(valueBytes >= 0, "a value has no negative length");
        Span<byte> value = Value(index, out bool isOverflow);
        Debug.Assert(valueBytes <= value.Length, "3: values do not grow in place");
        if (valueBytes == value.Length)
            return value;

        Page header = Header;
        header.WriteUInt16(CellOffset(index) + 2, valueBytes | (isOverflow ? OverflowFlag : 0));
        header.Garbage += value.Length - valueBytes;
        AssertHeap();
        return value[..valueBytes];
    }

    /// <summary>
    /// Gives an entry a new cell for a value of another length, and returns the span for the value; the page must have room
    /// for it without compaction. The old cell becomes garbage. Heads and the other slots stay unchanged.
    /// </summary>
    public Span<byte> Replace(int index, int valueBytes, bool isOverflow)
    {
        Page header = Header;
        int old = CellOffset(index);
        int keyBytes = header.ReadUInt16(old);
        int oldBytes = CellHeadBytes + keyBytes + (header.ReadUInt16(old + 2) & ~OverflowFlag);
        int heapStart = header.HeapStart;
        if (old == heapStart)
            heapStart += oldBytes;
        else
            header.Garbage += oldBytes;
        int cell = heapStart - (CellHeadBytes + keyBytes + valueBytes);
        Debug.Assert(cell >= SlotsEnd(header.Count), "2: the caller has made sure of room");

        // Copy the key first: the new cell may overlap the old one.
        _bytes.Slice(old + CellHeadBytes, keyBytes).CopyTo(_bytes[(cell + CellHeadBytes)..]);
        header.WriteUInt16(cell, keyBytes);
        header.WriteUInt16(cell + 2, valueBytes | (isOverflow ? OverflowFlag : 0));
        header.WriteUInt16(SlotsStart(header.Count) + (index * SlotBytes), cell);
        header.HeapStart = cell;
        AssertHeap();
        return _bytes.Slice(cell + CellHeadBytes + keyBytes, valueBytes);
    }

    /// <summary>
    /// Like <see cref="Replace"/>, for a page that has room only without its garbage: all cells are laid out again without
    /// gaps. The keys do not change, so heads and prefix stay valid: a page with growing entries pays for a copy of its
    /// cells, not for a rebuild.
    /// </summary>
    /// <param name="index">The entry.</param>
    /// <param name="valueBytes">Length of its new value in bytes.</param>
    /// <param name="isOverflow">Whether the value refers to an overflow run.</param>
    /// <param name="copy">Buffer of the size of a page.</param>
    public Span<byte> ReplaceCompacted(int index, int valueBytes, bool isOverflow, Span<byte> copy)
    {
        Debug.Assert(copy.Length == PageLayout.SizeBytes, "3: the copy has room for the whole heap");
        Page header = Header;
        int count = header.Count;
        _bytes[header.HeapStart..].CopyTo(copy[header.HeapStart..]);
        int end = PageLayout.SizeBytes - header.PrefixLength, place = 0;
        if (header.PrefixLength > 0)
        {
            copy.Slice(header.PrefixOffset, header.PrefixLength).CopyTo(_bytes[end..]);
            header.PrefixOffset = end;
        }

        for (int i = 0; i < count; i++)
        {
            int slot = SlotsStart(count) + (i * SlotBytes), old = header.ReadUInt16(slot);
            int keyEnd = CellHeadBytes + MemoryMarshal.Read<ushort>(copy[old..]);
            int kept = i == index ? keyEnd : keyEnd + (MemoryMarshal.Read<ushort>(copy[(old + 2)..]) & ~OverflowFlag);
            end -= i == index ? keyEnd + valueBytes : kept;
            copy.Slice(old, kept).CopyTo(_bytes[end..]);
            header.WriteUInt16(slot, end);
            if (i != index)
                continue;
            header.WriteUInt16(end + 2, valueBytes | (isOverflow ? OverflowFlag : 0));
            place = end + keyEnd;
        }

        Debug.Assert(end >= SlotsEnd(count), "2: the caller has made sure of room");
        Debug.Assert(place > end, "3: the heap has a cell for the entry that changes");
        _bytes[SlotsEnd(count)..end].Clear();
        header.HeapStart = end;
        header.Garbage = 0;
        return _bytes.Slice(place, valueBytes);
    }

    /// <summary>
    /// Returns the lines of the header, an entry's slot and its cell: everything that changes when an entry gets a new value.
    /// </summary>
    public LineSet LinesOf(int index)
    {
        LineSet lines = default;
        lines.Add(0, PageLayout.HeaderBytes);
        lines.Add(SlotsStart(Count) + (index * SlotBytes), SlotBytes);
        int cell = CellOffset(index);
        lines.Add(
            cell,
            CellHeadBytes + MemoryMarshal.Read<ushort>(_bytes[cell..])
                + (MemoryMarshal.Read<ushort>(_bytes[(cell + 2)..]) & ~OverflowFlag));
        return lines;
    }

    /// <summary>Like <see cref="LinesOf"/>, after an insertion: includes the heads and slots after the entry.</summary>
    public LineSet LinesFrom(int index)
    {
        LineSet lines = LinesOf(index);
        int head = PageLayout.HeaderBytes + (index * HeadBytes), slots = SlotsStart(Count);
        lines.Add(head, slots - head);
        int first = SlotsStart(Count - 1) == slots ? slots + (index * SlotBytes) : slots; // a new step of heads moves all slots
        lines.Add(first, SlotsEnd(Count) - first);
        return lines;
    }

    /// <summary>Removes an entry; its cell becomes garbage.</summary>
    public void Remove(int index)
    {
        Page header = Header;
        int count = header.Count;
        int cell = CellOffset(index);
        int cellBytes = CellHeadBytes + header.ReadUInt16(cell) + (header.ReadUInt16(cell + 2) & ~OverflowFlag);
        if (cell == header.HeapStart)
            header.HeapStart = cell + cellBytes;
        else
            header.Garbage += cellBytes;

        int slots = SlotsStart(count);
        int newSlots = SlotsStart(count - 1);
        int head = PageLayout.HeaderBytes + (index * HeadBytes);
        int heads = (count - index - 1) * HeadBytes;
        _bytes.Slice(head + HeadBytes, heads).CopyTo(_bytes[head..]);
        _bytes.Slice(head + heads, HeadBytes).Clear();

        int slot = slots + (index * SlotBytes);
        _bytes.Slice(slot + SlotBytes, (count - index - 1) * SlotBytes).CopyTo(_bytes[slot..]);
        if (newSlots != slots)
            _bytes.Slice(slots, (count - 1) * SlotBytes).CopyTo(_bytes[newSlots..]);
        header.Count = count - 1;
        AssertHeap();
    }

    /// <summary>Returns the length of an entry's whole key in bytes.</summary>
    public int KeyLength(int index) => Header.PrefixLength + Suffix(index).Length;

    /// <summary>Whether an entry's key begins with <paramref name="beginning"/>.</summary>
    public bool StartsWith(int index, scoped ReadOnlySpan<byte> beginning)
    {
        ReadOnlySpan<byte> prefix = Prefix;
        return prefix.Length >= beginning.Length
            ? prefix.StartsWith(beginning)
            : beginning.StartsWith(prefix) && Suffix(index).StartsWith(beginning[prefix.Length..]);
    }

    /// <summary>Copies the whole key of an entry to a buffer; returns its length.</summary>
    public int CopyKey(int index, Span<byte> destination)
    {
        ReadOnlySpan<byte> prefix = Prefix, suffix = Suffix(index);
        prefix.CopyTo(destination);
        suffix.CopyTo(destination[prefix.Length..]);
        return prefix.Length + suffix.Length;
    }

    /// <summary>Stores the prefix, given in two parts, in an empty page.</summary>
    public void SetPrefix(ReadOnlySpan<byte> first, ReadOnlySpan<byte> second)
    {
        Page header = Header;
        Debug.Assert(header.Count == 0, "4: the prefix is chosen before the first key");
        Debug.Assert(header.PrefixLength == 0, "3: a page has one prefix");
        int length = first.Length + second.Length;
        if (length == 0)
            return;

        int offset = header.HeapStart - length;
        Debug.Assert(length <= Tree.MaxKeyBytes && offset >= SlotsEnd(0), "2: a prefix is no longer than a key");
        first.CopyTo(_bytes[offset..]);
        second.CopyTo(_bytes[(offset + first.Length)..]);
        header.HeapStart = offset;
        header.PrefixOffset = offset;
        header.PrefixLength = length;
    }

    /// <summary>Returns the first four bytes of a key, zero-padded, as a number with the same order.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint HeadOf(ReadOnlySpan<byte> suffix)
    {
        if (suffix.Length >= HeadBytes)
            return BinaryPrimitives.ReadUInt32BigEndian(suffix);

        uint head = 0;
        for (int i = 0; i < HeadBytes; i++)
            head = (head << 8) | (i < suffix.Length ? suffix[i] : 0u);
        return head;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int SlotsStart(int count) => PageLayout.HeaderBytes + (((count + HeadStep - 1) & ~(HeadStep - 1)) * HeadBytes);

    private static int SlotsEnd(int count) => SlotsStart(count) + (count * SlotBytes);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int CellOffset(int index)
    {
        Debug.Assert((uint)index < (uint)Count, "an entry of this page");
        return MemoryMarshal.Read<ushort>(_bytes[(SlotsStart(Count) + (index * SlotBytes))..]);
    }

    /// <summary>
    /// Asserts invariant 1 for an entry of a leaf and its neighbours. Skipped if heads do not ascend or do not match their
    /// keys: in such a damaged page, a search may find any position.
    /// </summary>
    [Conditional("DEBUG")]
    private void AssertOrderAt(int index)
    {
        if (Header.Type != PageType.Leaf)
            return;

        for (int i = 1; i < Count; i++)
            if (Heads[i - 1] > Heads[i])
                return;
        ReadOnlySpan<byte> key = Suffix(index);
        if (index > 0 && Heads[index - 1] == HeadOf(Suffix(index - 1)))
            Debug.Assert(Suffix(index - 1).SequenceCompareTo(key) < 0, "1: a key is above the one before it");
        if (index < Count - 1 && Heads[index + 1] == HeadOf(Suffix(index + 1)))
            Debug.Assert(key.SequenceCompareTo(Suffix(index + 1)) < 0, "1: a key is below the one after it");
    }

    /// <summary>Asserts invariant 3.</summary>
    [Conditional("DEBUG")]
    private void AssertHeap()
    {
        int used = Header.PrefixLength;
        foreach (ushort slot in Slots)
        {
            Debug.Assert(slot >= Header.HeapStart, "3: cells lie in the heap");
            Cell cell = At(slot);
            used += CellHeadBytes + cell.Key.Length + cell.Value.Length;
        }

        Debug.Assert(
            used + Header.Garbage == PageLayout.SizeBytes - Header.HeapStart, "3: cells, prefix and garbage fill the heap");
    }

    /// <summary>An entry as stored in its page: the part of its key after the prefix, and its value.</summary>
    internal readonly ref struct Cell(ReadOnlySpan<byte> bytes, int keyBytes, bool isOverflow)
    {
        private readonly ReadOnlySpan<byte> _bytes = bytes;

        public ReadOnlySpan<byte> Key => _bytes[..keyBytes];

        public ReadOnlySpan<byte> Value => _bytes[keyBytes..];

        public bool IsOverflow => isOverflow;
    }
}
