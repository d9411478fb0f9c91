using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Columns;

/// <summary>
/// The sort values of one field for up to 64 neighbouring entries, read in place. Key in the tree: chunk number (entry
/// id / 64), 8 bytes big-endian.
/// <code>
/// OFFSET   SIZE  MEANING
/// 0        1     n, slots; entries after the last slot have no value. Plus 128 if packed, see below
/// 1        13·n  slots
/// 1+13·n   …     texts after their first eight bytes
/// a slot:
/// 0        1     SortTag
/// 1        8     number: first eight bytes of its NumberKey; text: its first eight bytes, zero-filled; both order as bytes
/// 9        2     number: last two bytes of its key; text: its length, little-endian
/// 11       2     text: start of the rest among the texts
/// packed, if all values are whole numbers from −2⁵³ to 2⁵³ close to each other:
/// 1        1     w, bits of a value: 0 to 56
/// 2        8     the least value, little-endian
/// 10       8     one bit per slot: whether it has a value
/// 18       …     per slot its value minus the least, w bits, lowest first; seven bytes more than needed
/// packed, if all values are texts that repeat:
/// 1        1     255
/// 2        1     t, number of distinct texts
/// 3        1     w, bits of a place; plus 128 if ends take two bytes
/// 4        t, 2t end of each text
/// …        …     per slot the place of its text, w bits, lowest first; t if it has no value
/// …        …     the texts; eight bytes of 0
/// </code>
/// Texts are compared by their first eight bytes; the rest is read only for ties. If many entries share a few texts, their values
/// are in a <see cref="TextBlock"/>; a window of whole numbers is in a <see cref="NumberBlock"/>. A chunk is then a view of a
/// part of such a block.
/// </summary>
/// <param name="bytes">The chunk, or the block of texts.</param>
/// <param name="part">The part of the block of texts, from 1 on; 0 for a separate chunk; negative for a part of a block of
/// numbers.</param>
internal readonly ref struct SortChunk(ReadOnlySpan<byte> bytes, int part = 0)
{
    /// <summary>Whole numbers from minus this to this are exact as doubles.</summary>
    public const long MaxPacked = 1L << 53;

    /// <summary>
    /// Bits of the widest packed value: it lies within eight bytes even after up to seven bits of its first byte.
    /// </summary>
    public const int MaxPackedBits = 56;

    /// <summary>If at least this many entries are wanted, all 64 are compared, eight at a time.</summary>
    private const int FromWhereAll = 10;

    public const int PackedHeaderBytes = 18;
    public const int PackedFlag = 128;

    /// <summary>Marks a chunk of texts; stored in place of a width.</summary>
    public const byte TextMark = byte.MaxValue;

    public const int TextsHeaderBytes = 4;

    /// <summary>Flag: the ends of texts take two bytes.</summary>
    public const int WideFlag = 128;

    public const int EntryBits = 6;
    public const int Entries = 1 << EntryBits;
    public const int SlotBytes = 13;
    public const int HeadBytes = 8;

    private readonly ReadOnlySpan<byte> _bytes = bytes;
    private readonly int _part = part;
    private readonly NumberBlock _numbers;

    private SortChunk(NumberBlock numbers, int part)
        : this(default(ReadOnlySpan<byte>), ~part) => _numbers = numbers;

    public int Count => IsOfBlock || IsOfNumbers ? Entries : _bytes.IsEmpty ? 0 : _bytes[0] & ~PackedFlag;

    /// <summary>Whether all values are whole numbers close to each other, in a separate chunk.</summary>
    public bool IsPacked => _part == 0 && !_bytes.IsEmpty && _bytes[0] >= PackedFlag && _bytes[1] != TextMark;

    private bool IsOfBlock => _part > 0;

    private bool IsOfNumbers => _part < 0;

    private bool IsTexts => _part == 0 && !_bytes.IsEmpty && _bytes[0] >= PackedFlag && _bytes[1] == TextMark;

    private TextBlock Block => new(_bytes);

    /// <summary>The sort values of 64 entries of a block of numbers.</summary>
    public static SortChunk Of(NumberBlock numbers, int part) => new(numbers, part);

    public SortTag TagAt(int slot)
    {
        if (IsOfNumbers)
            return HasPacked(slot) ? SortTag.Number : SortTag.None;
        if (slot >= Count)
            return SortTag.None;
        if (IsOfBlock)
            return PlaceInBlock(slot) > 0 ? SortTag.Text : SortTag.None;
        if (IsTexts)
            return PlaceAt(slot) < _bytes[2] ? SortTag.Text : SortTag.None;
        return !IsPacked ? (SortTag)Slot(slot)[0] : HasPacked(slot) ? SortTag.Number : SortTag.None;
    }

    /// <summary>The first eight bytes of a value as an integer with the same order; 0 if there is no value.</summary>
    public ulong HeadAt(int slot) => IsOfBlock || IsTexts
        ? TextHead(slot)
        : !IsWhole
        ? BinaryPrimitives.ReadUInt64BigEndian(Slot(slot)[1..])
        : HasPacked(slot) ? NumberKey.HeadOf(PackedAt(slot)) : 0;

    /// <summary>
    /// The ten bytes of a number, either in place or in <paramref name="room"/>, which must have ten bytes.
    /// </summary>
    public ReadOnlySpan<byte> NumberAt(int slot, Span<byte> room)
    {
        if (!IsWhole)
            return Slot(slot).Slice(1, NumberKey.Bytes);

        NumberKey.Write(room, PackedAt(slot));
        return room[..NumberKey.Bytes];
    }

    /// <summary>A number converted to the nearest double.</summary>
    public double DoubleAt(int slot) => IsWhole ? PackedAt(slot) : NumberKey.ToDouble(Slot(slot).Slice(1, NumberKey.Bytes));

    /// <summary>A number converted as by <see cref="NumberKey.ToSaturatedLong"/>.</summary>
    public long LongAt(int slot) => IsWhole ? PackedAt(slot) : NumberKey.ToSaturatedLong(Slot(slot).Slice(1, NumberKey.Bytes));

    public int TextLengthAt(int slot) =>
        IsOfBlock || IsTexts ? Text(slot).Length : BinaryPrimitives.ReadUInt16LittleEndian(Slot(slot)[9..]);

    /// <summary>The first bytes of a text, at most eight.</summary>
    public ReadOnlySpan<byte> TextHeadAt(int slot)
    {
        if (!IsOfBlock && !IsTexts)
            return Slot(slot).Slice(1, Math.Min(HeadBytes, TextLengthAt(slot)));

        ReadOnlySpan<byte> text = Text(slot);
        return text[..Math.Min(HeadBytes, text.Length)];
    }

    /// <summary>
    /// Returns the first eight bytes of a text, like <see cref="HeadAt"/>, and its length, looking up its place only once;
    /// false if the slot has no text.
    /// </summary>
    public bool TryTextHead(int slot, out ulong head, out int length)
    {
        (head, length) = (0, 0);
        if (slot >= Count || IsWhole)
            return false;

        if (IsOfBlock)
        {
            TextBlock block = Block;
            int text = PlaceInBlock(slot);
            if (text == 0)
                return false;
            (head, length) = (block.HeadAt(text), block.TextAt(text).Length);
            return true;
        }

        if (!IsTexts)
        {
            ReadOnlySpan<byte> own = Slot(slot);
            if ((SortTag)own[0] != SortTag.Text)
                return false;
            (head, length) = (BinaryPrimitives.ReadUInt64BigEndian(own[1..]), BinaryPrimitives.ReadUInt16LittleEndian(own[9..]));
            return true;
        }

        int place = PlaceAt(slot);
        if (place >= _bytes[2])
            return false;

        int start = place == 0 ? 0 : End(place - 1);
        length = End(place) - start;
        head = BinaryPrimitives.ReadUInt64BigEndian(_bytes[(TextsStart + start)..]);
        if (length < HeadBytes)
            head &= ~(ulong.MaxValue >> (8 * length));
        return true;
    }

    /// <summary>The bytes of a text from the ninth on.</summary>
    public ReadOnlySpan<byte> TextRestAt(int slot)
    {
        if (IsOfBlock || IsTexts)
        {
            ReadOnlySpan<byte> text = Text(slot);
            return text[Math.Min(HeadBytes, text.Length)..];
        }

        int length = TextLengthAt(slot) - HeadBytes;
        return length <= 0
            ? default
            : _bytes.Slice(1 + (Count * SlotBytes) + BinaryPrimitives.ReadUInt16LittleEndian(Slot(slot)[11..]), length);
    }

    /// <summary>Number of bits that encode one of <paramref name="texts"/> texts, or none.</summary>
    public static int PlaceBits(int texts) => 32 - BitOperations.LeadingZeroCount((uint)texts);

    /// <summary>
    /// Length in bytes of the places of <paramref name="slots"/> slots, which are read two bytes at a time.
    /// </summary>
    public static int PlaceBytes(int slots, int bits) => ((slots * bits) + 7) >> 3;

    /// <summary>
    /// The place of a slot's text among the distinct texts; the number of these texts if the slot has no text.
    /// </summary>
    private int PlaceAt(int slot)
    {
        int width = _bytes[3] & ~WideFlag;
        int bit = slot * width;
        return BinaryPrimitives.ReadUInt16LittleEndian(_bytes[(EndsEnd + (bit >> 3))..]) >> (bit & 7) & ((1 << width) - 1);
    }

    private int EndBytes => _bytes[3] >= WideFlag ? sizeof(ushort) : 1;

    private int EndsEnd => TextsHeaderBytes + (_bytes[2] * EndBytes);

    /// <summary>Where the texts begin.</summary>
    private int TextsStart => EndsEnd + PlaceBytes(Count, _bytes[3] & ~WideFlag);

    private int End(int place) =>
        EndBytes == 1
            ? _bytes[TextsHeaderBytes + place]
            : BinaryPrimitives.ReadUInt16LittleEndian(_bytes[(TextsHeaderBytes + (2 * place))..]);

    private int PlaceInBlock(int slot) => Block.PlaceOf(((_part - 1) << EntryBits) + slot);

    private ReadOnlySpan<byte> Text(int slot)
    {
        if (IsOfBlock)
            return Block.TextAt(PlaceInBlock(slot));

        int place = PlaceAt(slot);
        int start = place == 0 ? 0 : End(place - 1);
        return _bytes.Slice(TextsStart + start, End(place) - start);
    }

    /// <summary>Like <see cref="HeadAt"/>. At least eight readable bytes follow the start of the last text.</summary>
    private ulong TextHead(int slot)
    {
        if (IsOfBlock)
            return PlaceInBlock(slot) is > 0 and var text ? Block.HeadAt(text) : 0;

        int place = PlaceAt(slot);
        if (place >= _bytes[2])
            return 0;

        int start = place == 0 ? 0 : End(place - 1);
        int length = End(place) - start;
        ulong head = BinaryPrimitives.ReadUInt64BigEndian(_bytes[(TextsStart + start)..]);
        return length >= HeadBytes ? head : head & ~(ulong.MaxValue >> (8 * length));
    }

    /// <summary>
    /// For a packed chunk: returns those wanted slots, one bit each, whose values are in an inclusive range.
    /// </summary>
    public ulong PackedBetween(long low, long high, ulong wanted)
    {
        Debug.Assert(IsPacked, "only a packed chunk has packed values");
        wanted &= BinaryPrimitives.ReadUInt64LittleEndian(_bytes[10..]);
        int width = _bytes[1];
        ulong mask = (1UL << width) - 1;
        long least = BinaryPrimitives.ReadInt64LittleEndian(_bytes[2..]);
        long greatest = least + (long)mask; // an upper bound
        if (low > high || low > greatest || high < least)
            return 0;
        if (low <= least && high >= greatest)
            return wanted;

        ulong from = low <= least ? 0 : (ulong)(low - least), span = (ulong)(high - least) - from, found = 0;
        ReadOnlySpan<byte> values = _bytes[PackedHeaderBytes..];
        if (width <= PackedKernels.MaxBits && Count == Entries && BitOperations.PopCount(wanted) >= FromWhereAll)
            // The span is limited to the width, because values below the range would wrap around.
            return wanted & PackedKernels.Between(values, width, (uint)from, (uint)Math.Min(span, mask - from));
        for (; wanted != 0; wanted &= wanted - 1)
        {
            int slot = BitOperations.TrailingZeroCount(wanted), bit = slot * width;
            ulong value = (BinaryPrimitives.ReadUInt64LittleEndian(values[(bit >> 3)..]) >> (bit & 7)) & mask;
            found |= (value - from <= span ? 1UL : 0) << slot;
        }

        return found;
    }

    /// <summary>Whether all values are whole numbers, in a chunk or a block.</summary>
    private bool IsWhole => IsOfNumbers || IsPacked;

    private bool HasPacked(int slot) =>
        IsOfNumbers
            ? _numbers.Has(PlaceInNumbers(slot))
            : (BinaryPrimitives.ReadUInt64LittleEndian(_bytes[10..]) >> slot & 1) != 0;

    private int PlaceInNumbers(int slot) => (~_part << EntryBits) + slot;

    private long PackedAt(int slot)
    {
        if (IsOfNumbers)
            return _numbers.ValueAt(PlaceInNumbers(slot));

        int width = _bytes[1];
        int bit = slot * width;
        ulong value = BinaryPrimitives.ReadUInt64LittleEndian(_bytes[(PackedHeaderBytes + (bit >> 3))..]) >> (bit & 7);
        return BinaryPrimitives.ReadInt64LittleEndian(_bytes[2..]) + (long)(value & ((1UL << width) - 1));
    }

    private ReadOnlySpan<byte> Slot(int slot) => _bytes.Slice(1 + (slot * SlotBytes), SlotBytes);
}
