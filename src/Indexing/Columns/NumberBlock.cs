using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;
using Treepie.Storage;

namespace Treepie.Indexing.Columns;

/// <summary>
/// The sort values of the 4,096 entries of a window whose values are all whole numbers from −2⁵³ to 2⁵³, read in place. The
/// highest eight bits of each value are stored apart from the rest, so that a range is compared with 64 of them at a time, and
/// the rest is read only for the few values that share the highest bits of an end of the range. Key in the tree: entry id /
/// 4,096, 8 bytes big-endian. The entries of a block have no <see cref="SortChunk"/>.
/// <code>
/// OFFSET   SIZE     MEANING
/// 0        2        n, slots: 1 to 4,096, little-endian; entries after the last slot have no value
/// 2        1        w, bits of a value: 0, or 8 to 55
/// 3        1        1 if each slot has a value; 0 if a bitmap says which
/// 4        8        the least value, little-endian
/// 12       8        the greatest value, little-endian
/// 20       44       0, so that the rest starts at a cache line if the block has pages of its own
/// 64       64·g     if w is not 0: the highest 8 bits of each slot's value minus the least, a byte each; g = ⌈n / 64⌉
/// …        8·g      if not every slot has a value: the bitmap of those that do, little-endian
/// …        8·g·v    if v = w − 8 is above 0: the other v bits of each, lowest first; then eight bytes of 0
/// </code>
/// </summary>
internal readonly ref struct NumberBlock
{
    public const int EntryBits = PostingWindow.SizeBits;
    public const int Entries = 1 << EntryBits;

    /// <summary>Number of chunks that the block replaces.</summary>
    public const int Chunks = Entries / SortChunk.Entries;

    public const int WidthOffset = 2;
    public const int AllOffset = 3;
    public const int LeastOffset = 4;
    public const int GreatestOffset = 12;
    public const int HeaderBytes = 64;

    /// <summary>Bits of a value that are stored apart.</summary>
    public const int HighBits = 8;

    /// <summary>Bytes after the lowest bits, because eight bytes are read at a time.</summary>
    public const int SlackBytes = sizeof(ulong);

    /// <summary>Bits of the widest value.</summary>
    public const int MaxBits = 55;

    /// <summary>Length of the longest encoding in bytes.</summary>
    public const int MaxBytes = HeaderBytes + Entries + (Entries / 8) + (Entries / 8 * (MaxBits - HighBits)) + SlackBytes;

    /// <summary>
    /// If at least this many of 64 values need their lower bits compared, all 64 are compared, eight at a time.
    /// </summary>
    private const int FromWhereAll = 16;

    private readonly ReadOnlySpan<byte> _bytes;
    private readonly int _presentStart;
    private readonly int _lowStart;

    /// <param name="bytes">The value.</param>
    /// <exception cref="CorruptionException">The bytes are not a block.</exception>
    public NumberBlock(ReadOnlySpan<byte> bytes)
    {
        _bytes = bytes;
        if (bytes.Length < HeaderBytes)
            throw Damaged();
        Count = BinaryPrimitives.ReadUInt16LittleEndian(bytes);
        int width = bytes[WidthOffset], groups = Groups;
        HasAll = bytes[AllOffset] != 0;
        Least = BinaryPrimitives.ReadInt64LittleEndian(bytes[LeastOffset..]);
        _presentStart = HeaderBytes + (width == 0 ? 0 : groups << SortChunk.EntryBits);
        _lowStart = _presentStart + (HasAll ? 0 : groups * sizeof(ulong));
        LowBits = Math.Max(0, width - HighBits);
        ulong most = width == 0 ? 0 : ulong.MaxValue >> (64 - width);
        if (width is > 0 and < HighBits or > MaxBits
            || Count is 0 or > Entries
            || bytes.Length != _lowStart + LowBytes(groups, LowBits)
            || Least is < -SortChunk.MaxPacked or > SortChunk.MaxPacked || Greatest < Least || (ulong)(Greatest - Least) > most)
        {
            throw Damaged();
        }
    }

    /// <summary>Number of slots.</summary>
    public int Count { get; }

    /// <summary>Whether each slot has a value.</summary>
    public bool HasAll { get; }

    /// <summary>Whether each entry of the window has a value.</summary>
    public bool IsWhole => HasAll && Count == Entries;

    /// <summary>The least value.</summary>
    public long Least { get; }

    /// <summary>The greatest value.</summary>
    public long Greatest => BinaryPrimitives.ReadInt64LittleEndian(_bytes[GreatestOffset..]);

    /// <summary>Bits of a value below the highest bits.</summary>
    private int LowBits { get; }

    private int Groups => (Count + SortChunk.Entries - 1) >> SortChunk.EntryBits;

    private bool IsConstant => _presentStart == HeaderBytes;

    /// <summary>Length in bytes of the lower bits of all slots.</summary>
    public static int LowBytes(int groups, int bits) => bits == 0 ? 0 : (groups * sizeof(ulong) * bits) + SlackBytes;

    /// <summary>Whether a slot has a value.</summary>
    public bool Has(int slot) => slot < Count && (HasAll || (_bytes[_presentStart + (slot >> 3)] >> (slot & 7) & 1) != 0);

    /// <summary>The value of a slot, which must have one.</summary>
    public long ValueAt(int slot) => Least + (long)Above(slot);

    /// <summary>
    /// Of the 64 words of a window's bitmap, keeps the entries with a value from <paramref name="low"/> to
    /// <paramref name="high"/>, inclusive.
    /// </summary>
    public void Between(long low, long high, Span<ulong> words)
    {
        Debug.Assert(words.Length >= Groups, "each group has a word");
        int groups = Groups;
        long greatest = Greatest;
        if (low > high || low > greatest || high < Least)
        {
            words.Clear();
            return;
        }

        words[groups..].Clear();
        words = words[..groups];
        KeepPresent(words);
        if (low <= Least && high >= greatest)
            return;

        (ulong from, ulong to) = Above(low, high);
        (ByteRange outer, ByteRange inner) = Highest(from, to);
        ulong mask = (1UL << LowBits) - 1;
        Span<ulong> edges = stackalloc ulong[Chunks];
        ReadOnlySpan<byte> highest = _bytes[HeaderBytes.._presentStart];
        if (!ByteKernels.Between(highest, outer, inner, words, edges))
            return;

        for (int i = 0; i < groups; i++)
        {
            if (edges[i] == 0)
                continue;
            words[i] &= ~edges[i] | (LowBits <= PackedKernels.MaxBits && BitOperations.PopCount(edges[i]) >= FromWhereAll
                ? EdgesOf(
                    highest.Slice(i << SortChunk.EntryBits, SortChunk.Entries),
                    _bytes[(_lowStart + (i * sizeof(ulong) * LowBits))..], outer, (uint)(from & mask), (uint)(to & mask))
                : EdgesOf(i, edges[i], from, to - from));
        }
    }

    /// <summary>
    /// Counts entries whose highest bits alone show that their value is in an inclusive range. Every entry of the window
    /// must have a value. The entries that this leaves undecided are returned, and prefetched for <see cref="CountOpen"/>.
    /// </summary>
    /// <param name="low">The lower end.</param>
    /// <param name="high">The upper end.</param>
    /// <param name="entries">The entries to count: a list, or a bitmap.</param>
    /// <param name="open">Receives the offsets of the undecided entries, up to 4,096.</param>
    /// <param name="openCount">Number of undecided entries.</param>
    public int CountBetween(long low, long high, in PostingWindow entries, Span<ushort> open, out int openCount)
    {
        Debug.Assert(IsWhole, "each entry of the window has a value");
        Debug.Assert(entries.Form is WindowSetForm.List or WindowSetForm.Bits, "the entries are a list or a bitmap");
        openCount = 0;
        if (low > high || low > Greatest || high < Least)
            return 0;
        if (low <= Least && high >= Greatest)
            return entries.Count;

        (ulong from, ulong to) = Above(low, high);
        (ByteRange outer, ByteRange inner) = Highest(from, to);
        ReadOnlySpan<byte> highest = _bytes[HeaderBytes.._presentStart];
        int count = entries.Form == WindowSetForm.List
            ? ByteKernels.Count(highest, outer, inner, entries.Offsets, open, out openCount)
            : ByteKernels.Count(highest, outer, inner, entries.Words, open, out openCount);
        foreach (ushort slot in open[..openCount])
            PrefetchKernels.Prefetch(in _bytes[_lowStart + (slot * LowBits >> 3)]);
        return count;
    }

    /// <summary>Counts the undecided offsets of <see cref="CountBetween"/> whose value is in the range.</summary>
    public int CountOpen(long low, long high, ReadOnlySpan<ushort> open)
    {
        Debug.Assert(IsWhole, "each entry of the window has a value");
        (ulong from, ulong to) = Above(low, high);
        ulong span = to - from;
        int count = 0;
        foreach (ushort slot in open)
            count += Above(slot) - from <= span ? 1 : 0;
        return count;
    }

    /// <summary>The distances of the ends of a range from the least value. The range must contain possible values.</summary>
    private (ulong From, ulong To) Above(long low, long high) =>
        (low <= Least ? 0 : (ulong)(low - Least), (ulong)(Math.Min(high, Greatest) - Least));

    /// <summary>
    /// For such a range: the highest bits that a value in the range may have, and those with which a value is in the range
    /// whatever its lower bits are. The range does not cover all values, so the values differ and have bits.
    /// </summary>
    private (ByteRange Outer, ByteRange Inner) Highest(ulong from, ulong to)
    {
        ulong mask = (1UL << LowBits) - 1;
        var outer = new ByteRange((int)(from >> LowBits), (int)(to >> LowBits));
        return (outer, new ByteRange(outer.First + ((from & mask) == 0 ? 0 : 1), outer.Last - ((to & mask) == mask ? 0 : 1)));
    }

    /// <summary>Whether a slot has a value in an inclusive range.</summary>
    public bool IsBetween(int slot, long low, long high) =>
        Has(slot) && ValueAt(slot) is var value && value >= low && value <= high;

    /// <summary>Keeps, in place, the offsets with a value in an inclusive range; returns the number kept.</summary>
    public int Keep(long low, long high, Span<ushort> offsets)
    {
        int kept = 0;
        foreach (ushort offset in offsets)
        {
            offsets[kept] = offset;
            kept += IsBetween(offset, low, high) ? 1 : 0;
        }

        return kept;
    }

    /// <summary>
    /// Of 64 slots, returns those in the range, provided that their highest bits equal those of an end of the range.
    /// </summary>
    private ulong EdgesOf(ReadOnlySpan<byte> highest, ReadOnlySpan<byte> lowest, ByteRange outer, uint from, uint to)
    {
        Debug.Assert(highest.Length == SortChunk.Entries && LowBits <= PackedKernels.MaxBits, "a group is compared as a whole");
        uint mask = (1u << LowBits) - 1;
        ulong first = ByteKernels.Equal(highest, (byte)outer.First), last = ByteKernels.Equal(highest, (byte)outer.Last);
        ulong fits = ulong.MaxValue;
        if (first != 0)
            fits &= ~first | PackedKernels.Between(lowest, LowBits, from, mask - from);
        if (last != 0)
            fits &= ~last | PackedKernels.Between(lowest, LowBits, 0, to);
        return fits;
    }

    /// <summary>Of the wanted ones among 64 slots, returns those in the range.</summary>
    private ulong EdgesOf(int group, ulong wanted, ulong from, ulong span)
    {
        Debug.Assert((uint)group < (uint)Groups, "the group is of the block");
        ulong found = 0;
        for (; wanted != 0; wanted &= wanted - 1)
        {
            int slot = BitOperations.TrailingZeroCount(wanted);
            found |= (Above((group << SortChunk.EntryBits) + slot) - from <= span ? 1UL : 0) << slot;
        }

        return found;
    }

    /// <summary>The distance of a slot's value from the least value.</summary>
    private ulong Above(int slot)
    {
        if (IsConstant)
            return 0;
        ulong high = _bytes[HeaderBytes + slot];
        if (LowBits == 0)
            return high;
        int bit = slot * LowBits;
        ulong low = BinaryPrimitives.ReadUInt64LittleEndian(_bytes[(_lowStart + (bit >> 3))..]) >> (bit & 7);
        return (high << LowBits) | (low & ((1UL << LowBits) - 1));
    }

    private void KeepPresent(Span<ulong> words)
    {
        Debug.Assert(words.Length == Groups, "each group has a word");
        if (HasAll)
        {
            if ((Count & (SortChunk.Entries - 1)) is > 0 and var rest)
                words[^1] &= (1UL << rest) - 1;
            return;
        }

        ReadOnlySpan<byte> present = _bytes[_presentStart..];
        for (int i = 0; i < words.Length; i++)
            words[i] &= BinaryPrimitives.ReadUInt64LittleEndian(present[(i * sizeof(ulong))..]);
    }

    private static CorruptionException Damaged() =>
        new("A block of numbers in the index is damaged. Reset the index to build it again.");
}
