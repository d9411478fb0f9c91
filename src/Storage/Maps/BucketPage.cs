using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Treepie.Storage.Format;
using Treepie.Storage.Memory;

namespace Treepie.Storage.Maps;

/// <summary>
/// A bucket: the records whose hashes have the same low bits. The high bits of a hash select a group of sixteen slots, and a
/// byte from its middle is the tag of the slot; a look-up compares sixteen tags at once, and keys only where the tag matches.
/// Records whose group is full go to the next group.
/// <code>
/// OFFSET           SIZE  MEANING
///     22              2  number of records (header)
///     24              2  start of the heap (header); with fixed-size records: the page's end
///     26              2  bytes of the heap that belong to removed cells (header)
///     28              2  number of slots, a multiple of 16 (header)
///     30              2  size of a fixed-size record; 65,535 if records are cells (header)
///     64             12  reference to the next page of the bucket, 6 page, 6 birth; zeros: none
///     76              4  0
///     80          slots  tags: 0 free, otherwise bits 40 to 47 of the hash, 255 where those are 0
///      .  slots × record fixed-size records, from the next multiple of 64: key, value. Or
///      .      2 × slots  offsets of cells; and the cells from the start of the heap:
///                        2 key length | 2 value length; bit 15: the value is a reference to an overflow run | key | value
/// </code>
/// </summary>
/// <remarks>
/// Invariant. 1. From the group selected by a record's hash (bits 48 to 63 × groups / 65,536) up to, but not including, the
/// group it is in, no slot is free; so a search ends at the first group with a free slot.
/// </remarks>
internal readonly ref struct BucketPage(Span<byte> bytes, BucketLayout layout)
{
    public const int TagsOffset = 80;
    public const int NextOffset = 64;
    public const int CellHeadBytes = 4;
    public const int OverflowFlag = 0x8000;

    private const int OffsetBytes = 2;
    private const int PairRecords = 2 * KeyLine.Records;

    private readonly Span<byte> _bytes = bytes;
    private readonly BucketLayout _layout = layout;

    /// <summary>The whole page.</summary>
    public ReadOnlySpan<byte> Bytes => _bytes;

    /// <summary>The header.</summary>
    public Page Header => new(_bytes);

    /// <summary>The number of records.</summary>
    public int Count => MemoryMarshal.Read<ushort>(_bytes[PageLayout.CountOffset..]);

    /// <summary>The number of slots.</summary>
    public int Slots
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _layout.IsFixed ? _layout.SlotsIn(_bytes.Length) : MemoryMarshal.Read<ushort>(_bytes[MapLayout.SlotsOffset..]);
    }

    /// <summary>The next page of the bucket.</summary>
    public PageReference Next
    {
        get => PageReference.ReadPacked(_bytes.Slice(NextOffset, PageReference.PackedBytes));
        set => value.WritePacked(_bytes.Slice(NextOffset, PageReference.PackedBytes));
    }

    /// <summary>The number of bytes used by records, from which a map computes how full its buckets are.</summary>
    public int UsedBytes => _layout.IsFixed
        ? Count * (_layout.RecordBytes + 1)
        : _bytes.Length - Header.HeapStart - Header.Garbage + (Count * (OffsetBytes + 1));

    /// <summary>Returns the number of bytes that a record uses.</summary>
    public static int UsedBytesOf(BucketLayout layout, int keyBytes, int valueBytes) =>
        layout.IsFixed ? layout.RecordBytes + 1 : CellHeadBytes + keyBytes + valueBytes + OffsetBytes + 1;

    /// <summary>Returns the tag of a hash.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte TagOf(ulong hash)
    {
        byte tag = (byte)(hash >> 40);
        return tag == 0 ? byte.MaxValue : tag;
    }

    /// <summary>Returns the group selected by a hash.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int HomeOf(ulong hash, int groups) => (int)(((uint)(hash >> 48) * (uint)groups) >> 16);

    /// <summary>Initializes a page that has a header as an empty bucket.</summary>
    public void Clear()
    {
        Page header = Header;
        _bytes[PageLayout.HeaderBytes..].Clear();
        header.Count = 0;
        header.HeapStart = _bytes.Length;
        header.Garbage = 0;
        header.WriteUInt16(MapLayout.SlotsOffset, _layout.IsFixed ? Slots : TagGroup.Size);
        header.WriteUInt16(MapLayout.RecordOffset, _layout.Code);
    }

    /// <summary>Copies this page to another.</summary>
    public void CopyTo(BucketPage destination) => _bytes.CopyTo(destination._bytes);

    /// <summary>Returns the slot of a key, or -1. Never reads outside the page, whatever its contents.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int Find(ulong hash, scoped ReadOnlySpan<byte> key)
    {
        int groups = Slots / TagGroup.Size;
        if (!_layout.IsFixed && TagsOffset + (groups * TagGroup.Size * (OffsetBytes + 1)) > _bytes.Length)
            return -1;

        byte tag = TagOf(hash);
        int group = HomeOf(hash, groups);
        for (int left = groups; left > 0; left--)
        {
            uint matches = TagGroup.Match(_bytes.Slice(TagsOffset + (group * TagGroup.Size), TagGroup.Size), tag, out uint zeros);
            for (; matches != 0; matches &= matches - 1)
            {
                int slot = (group * TagGroup.Size) + BitOperations.TrailingZeroCount(matches);
                if (IsKey(slot, groups, key))
                    return slot;
            }

            if (zeros != 0)
                return -1;
            if (++group == groups)
                group = 0;
        }

        return -1;
    }

    /// <summary>Whether a slot contains a record.</summary>
    public bool IsUsed(int slot) => _bytes[TagsOffset + slot] != 0;

    /// <summary>Returns the key in a slot.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ReadOnlySpan<byte> Key(int slot)
    {
        if (_layout.IsFixed)
            return _bytes.Slice(FixedOffset(slot), _layout.KeyBytes);

        int cell = CellOffset(slot);
        return _bytes.Slice(cell + CellHeadBytes, MemoryMarshal.Read<ushort>(_bytes[cell..]));
    }

    /// <summary>Returns the value in a slot as stored in the page, and whether it refers to an overflow run.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Value(int slot, out bool isOverflow)
    {
        if (_layout.IsFixed)
        {
            isOverflow = false;
            return _bytes.Slice(FixedOffset(slot) + _layout.KeyBytes, _layout.ValueBytes);
        }

        int cell = CellOffset(slot);
        int info = MemoryMarshal.Read<ushort>(_bytes[(cell + 2)..]);
        isOverflow = (info & OverflowFlag) != 0;
        return _bytes.Slice(cell + CellHeadBytes + MemoryMarshal.Read<ushort>(_bytes[cell..]), info & ~OverflowFlag);
    }

    /// <summary>Returns the offset of the value of a slot.</summary>
    public int ValueOffset(int slot)
    {
        if (_layout.IsFixed)
            return FixedOffset(slot) + _layout.KeyBytes;

        int cell = CellOffset(slot);
        return cell + CellHeadBytes + MemoryMarshal.Read<ushort>(_bytes[cell..]);
    }

    /// <summary>Returns the size of the cell of a slot.</summary>
    public int CellBytes(int slot) =>
        ValueOffset(slot) - CellOffset(slot) + (MemoryMarshal.Read<ushort>(_bytes[(CellOffset(slot) + 2)..]) & ~OverflowFlag);

    /// <summary>Returns the lines changed by the insertion of a record that moved no other.</summary>
    public LineSet LinesOf(int slot)
    {
        var lines = default(LineSet);
        lines.Add(0, PageLayout.HeaderBytes);
        lines.Add(TagsOffset + slot, 1);
        if (_layout.IsFixed)
        {
            lines.Add(FixedOffset(slot), _layout.RecordBytes);
            return lines;
        }

        lines.Add(TagsOffset + Slots + (slot * OffsetBytes), OffsetBytes);
        lines.Add(CellOffset(slot), CellBytes(slot));
        return lines;
    }

    /// <summary>
    /// Like <see cref="Value"/>, but returns false if the bytes of the page lead outside it. For readers concurrent with
    /// writers.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryGetValue(int slot, out ReadOnlySpan<byte> value, out bool isOverflow)
    {
        isOverflow = false;
        if (_layout.IsFixed)
        {
            value = _bytes.Slice(FixedOffset(slot) + _layout.KeyBytes, _layout.ValueBytes);
            return true;
        }

        int offset = TagsOffset + Slots + (slot * OffsetBytes);
        int cell = offset + OffsetBytes <= _bytes.Length ? MemoryMarshal.Read<ushort>(_bytes[offset..]) : _bytes.Length;
        if (cell + CellHeadBytes <= _bytes.Length)
        {
            int info = MemoryMarshal.Read<ushort>(_bytes[(cell + 2)..]);
            int start = cell + CellHeadBytes + MemoryMarshal.Read<ushort>(_bytes[cell..]), length = info & ~OverflowFlag;
            isOverflow = (info & OverflowFlag) != 0;
            if (start + length <= _bytes.Length)
            {
                value = _bytes.Slice(start, length);
                return true;
            }
        }

        value = default;
        return false;
    }

    /// <summary>
    /// Prefetches the line that most likely contains a record. If two lines of the group were searched before the tags,
    /// prefetches the other two. Only for fixed-size records.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Prefetch(ulong hash)
    {
        Debug.Assert(_layout.IsFixed, "only fixed-size records have a likely line");
        int slot = BucketLines.FirstSlot(_layout, hash, Slots / TagGroup.Size);
        if (_layout.HasKeyLines)
        {
            RawValue.Prefetch(in _bytes[FixedOffset(slot ^ PairRecords)]);
            RawValue.Prefetch(in _bytes[FixedOffset(slot ^ PairRecords ^ KeyLine.Records)]);
            return;
        }

        RawValue.Prefetch(in _bytes[FixedOffset(slot)]);
    }

    /// <summary>Returns the offset of the tags of a hash's group; for cells, that of the header.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int TagOffset(BucketLayout layout, ulong hash, int pageBytes) =>
        layout.IsFixed ? TagsOffset + (HomeOf(hash, layout.SlotsIn(pageBytes) / TagGroup.Size) * TagGroup.Size) : 0;

    /// <summary>
    /// Makes space for a record and writes its key. Returns its slot, whose value is undefined, or -1 if the page is too
    /// full. The key must not exist.
    /// </summary>
    public int Insert<THash>(ulong hash, scoped ReadOnlySpan<byte> key, int valueBytes, bool isOverflow, THash hashing)
        where THash : struct, IKeyHash
    {
        Page header = Header;
        int slots = Slots, count = header.Count;
        if (_layout.IsFixed)
        {
            if (count >= MaxCount(slots))
                return -1;
        }
        else
        {
            int needed = CellHeadBytes + key.Length + valueBytes;
            if (count >= MaxCount(slots) || header.HeapStart - SlotsEnd(slots) < needed)
            {
                if (!TryRebuild(needed, hashing))
                    return -1;
                slots = Slots;
            }
        }

        int slot = FreeSlot(hash, slots / TagGroup.Size);
        Debug.Assert(!IsUsed(slot), "a record gets a free slot");
        _bytes[TagsOffset + slot] = TagOf(hash);
        header.Count = count + 1;
        if (_layout.IsFixed)
        {
            key.CopyTo(_bytes.Slice(FixedOffset(slot), _layout.KeyBytes));
            return slot;
        }

        int cell = header.HeapStart - (CellHeadBytes + key.Length + valueBytes);
        Debug.Assert(cell >= SlotsEnd(slots), "cells lie behind the slots");
        header.HeapStart = cell;
        header.WriteUInt16(TagsOffset + slots + (slot * OffsetBytes), cell);
        header.WriteUInt16(cell, key.Length);
        header.WriteUInt16(cell + 2, valueBytes | (isOverflow ? OverflowFlag : 0));
        key.CopyTo(_bytes[(cell + CellHeadBytes)..]);
        return slot;
    }

    /// <summary>
    /// Removes a record and moves back records that were in later groups because its group was full. Returns the slot that is
    /// free afterwards.
    /// </summary>
    public int Remove<THash>(int slot, THash hashing)
        where THash : struct, IKeyHash
    {
        Debug.Assert(IsUsed(slot), "only a record is taken out");
        Page header = Header;
        if (!_layout.IsFixed)
        {
            int cell = CellOffset(slot);
            int cellBytes = CellHeadBytes + header.ReadUInt16(cell) + (header.ReadUInt16(cell + 2) & ~OverflowFlag);
            if (cell == header.HeapStart)
                header.HeapStart = cell + cellBytes;
            else
                header.Garbage += cellBytes;
        }

        header.Count--;
        int groups = Slots / TagGroup.Size, group = slot / TagGroup.Size, hole = slot;
        bool wasFull = Zeros(group) == 0;
        _bytes[TagsOffset + hole] = 0;
        for (int other = Following(group, groups); wasFull && other != group; other = Following(other, groups))
        {
            wasFull = Zeros(other) == 0;
            int moved = FindFarther(other, hole / TagGroup.Size, groups, hashing);
            if (moved < 0)
                continue;

            Move(moved, hole);
            hole = moved;
        }

        return hole;
    }

    /// <summary>
    /// Fills the free slots of an empty page with keys that are searched in other lines, in layouts with
    /// <see cref="BucketLayout.HasKeyLines"/>, so that a search of a line's keys (<see cref="BucketLines.HomeOffset"/>) need
    /// not read the tags. Mostly the key is 0, which the slots contain already.
    /// </summary>
    public void HideSlots<THash>(THash hashing)
        where THash : struct, IKeyHash
    {
        Debug.Assert(_layout.HasKeyLines, "only the keys of lines are searched without tags");
        int pair = HomePair(hashing, 0);
        for (int slot = pair * PairRecords; slot < (pair + 1) * PairRecords; slot++)
            HideSlot(slot, hashing);
    }

    /// <summary>Like <see cref="HideSlots"/>, for one slot that has become free.</summary>
    public void HideSlot<THash>(int slot, THash hashing)
        where THash : struct, IKeyHash
    {
        Debug.Assert(_layout.HasKeyLines && !IsUsed(slot), "only a free slot of a line hides its key");
        ulong key = 0;
        while (HomePair(hashing, key) == slot / PairRecords)
            key++;
        MemoryMarshal.Write(_bytes[FixedOffset(slot)..], key);
    }

    /// <summary>Whether a search finds the record in a slot. For checks.</summary>
    public bool IsReachable(int slot, ulong hash)
    {
        int groups = Slots / TagGroup.Size;
        int group = HomeOf(hash, groups);
        for (int left = groups; left > 0 && group != slot / TagGroup.Size; left--)
        {
            if (Zeros(group) != 0)
                return false;
            group = Following(group, groups);
        }

        return _bytes[TagsOffset + slot] == TagOf(hash);
    }

    private static int Following(int group, int groups) => group + 1 == groups ? 0 : group + 1;

    /// <summary>One sixteenth of the slots stays free, so that a search for a missing key ends soon.</summary>
    private static int MaxCount(int slots) => slots - (slots / TagGroup.Size);

    private static int SlotsEnd(int slots) => TagsOffset + (slots * (OffsetBytes + 1));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool IsKey(int slot, int groups, scoped ReadOnlySpan<byte> key)
    {
        if (_layout.IsFixed)
        {
            int offset = BucketLayout.RecordsOffset(groups * TagGroup.Size) + (slot * _layout.RecordBytes);
            return _layout.KeyBytes == sizeof(ulong)
                ? MemoryMarshal.Read<ulong>(_bytes[offset..]) == MemoryMarshal.Read<ulong>(key)
                : _bytes.Slice(offset, _layout.KeyBytes).SequenceEqual(key);
        }

        // Find has checked that the offset is inside the page
        int cell = MemoryMarshal.Read<ushort>(_bytes[(TagsOffset + (groups * TagGroup.Size) + (slot * OffsetBytes))..]);
        return cell + CellHeadBytes + key.Length <= _bytes.Length
            && MemoryMarshal.Read<ushort>(_bytes[cell..]) == key.Length
            && _bytes.Slice(cell + CellHeadBytes, key.Length).SequenceEqual(key);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private int FixedOffset(int slot) => BucketLayout.RecordsOffset(Slots) + (slot * _layout.RecordBytes);

    private int CellOffset(int slot) => MemoryMarshal.Read<ushort>(_bytes[(TagsOffset + Slots + (slot * OffsetBytes))..]);

    /// <summary>Returns the pair of lines in which a key is searched first.</summary>
    private int HomePair<THash>(THash hashing, ulong key)
        where THash : struct, IKeyHash =>
        BucketLines.HomeLine(hashing.Of(MemoryMarshal.AsBytes(new ReadOnlySpan<ulong>(in key))), Slots / TagGroup.Size) / 2;

    private uint Zeros(int group)
    {
        TagGroup.Match(_bytes.Slice(TagsOffset + (group * TagGroup.Size), TagGroup.Size), 0, out uint zeros);
        return zeros;
    }

    private int FreeSlot(ulong hash, int groups)
    {
        int group = HomeOf(hash, groups);
        uint zeros;
        while ((zeros = Zeros(group)) == 0)
            group = Following(group, groups);

        int first = BucketLines.FirstSlot(_layout, hash, groups) % TagGroup.Size;
        if (_layout.HasKeyLines)
        {
            const uint Line = (1u << KeyLine.Records) - 1;
            uint home = zeros & (Line << first), second = zeros & (Line << (first ^ KeyLine.Records));
            return (group * TagGroup.Size) + BitOperations.TrailingZeroCount(home != 0 ? home : second != 0 ? second : zeros);
        }

        uint after = zeros >> first;
        return (group * TagGroup.Size)
            + (after != 0 ? first + BitOperations.TrailingZeroCount(after) : BitOperations.TrailingZeroCount(zeros));
    }

    /// <summary>
    /// Returns a slot of a group whose record was moved past another group on the way from its home group, or -1.
    /// </summary>
    private int FindFarther<THash>(int group, int over, int groups, THash hashing)
        where THash : struct, IKeyHash
    {
        int distance = (group - over + groups) % groups;
        for (int slot = group * TagGroup.Size; slot < (group + 1) * TagGroup.Size; slot++)
        {
            if (IsUsed(slot) && (group - HomeOf(hashing.Of(Key(slot)), groups) + groups) % groups >= distance)
                return slot;
        }

        return -1;
    }

    private void Move(int from, int to)
    {
        Debug.Assert(IsUsed(from) && !IsUsed(to), "a record moves to a free slot");
        Page header = Header;
        _bytes[TagsOffset + to] = _bytes[TagsOffset + from];
        _bytes[TagsOffset + from] = 0;
        if (_layout.IsFixed)
            _bytes.Slice(FixedOffset(from), _layout.RecordBytes).CopyTo(_bytes[FixedOffset(to)..]);
        else
            header.WriteUInt16(TagsOffset + Slots + (to * OffsetBytes), CellOffset(from));
    }

    /// <summary>
    /// Packs the cells, with slots for one more record and some spare ones. Returns false if they do not fit.
    /// </summary>
    private bool TryRebuild<THash>(int cellBytes, THash hashing)
        where THash : struct, IKeyHash
    {
        Page header = Header;
        int live = _bytes.Length - header.HeapStart - header.Garbage;
        int room = _bytes.Length - live - cellBytes;
        int tight = RoundUp(((header.Count + 1) * TagGroup.Size / (TagGroup.Size - 1)) + 1);
        int slots = RoundUp(tight + (tight / 4));
        if (SlotsEnd(slots) > room)
            slots = tight;
        if (SlotsEnd(slots) > room)
            return false;

        Debug.Assert(
            slots % TagGroup.Size == 0 && MaxCount(slots) > header.Count, "there are slots for all records and one more");
        Span<byte> copy = stackalloc byte[_bytes.Length];
        _bytes.CopyTo(copy);
        Rebuild(new BucketPage(copy, _layout), slots, hashing);
        return true;
    }

    private static int RoundUp(int slots) => (slots + TagGroup.Size - 1) / TagGroup.Size * TagGroup.Size;

    /// <summary>
    /// Refills this page, whose header and reference to the next page are kept, with the records of another page.
    /// </summary>
    private void Rebuild<THash>(scoped BucketPage source, int slots, THash hashing)
        where THash : struct, IKeyHash
    {
        Debug.Assert(!_layout.IsFixed, "only cells have free bytes between them");
        Page header = Header;
        _bytes[TagsOffset..].Clear();
        header.Count = 0;
        header.HeapStart = _bytes.Length;
        header.Garbage = 0;
        header.WriteUInt16(MapLayout.SlotsOffset, slots);
        int sourceSlots = source.Slots;
        for (int slot = 0; slot < sourceSlots; slot++)
        {
            if (!source.IsUsed(slot))
                continue;

            ReadOnlySpan<byte> key = source.Key(slot);
            Span<byte> value = source.Value(slot, out bool isOverflow);
            int at = Insert(hashing.Of(key), key, value.Length, isOverflow, hashing);
            Debug.Assert(at >= 0, "the room was counted");
            value.CopyTo(Value(at, out _));
        }
    }
}
