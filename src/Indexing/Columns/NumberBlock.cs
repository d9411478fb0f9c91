using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;
using Treepie.Storage;

namespace Treepie.Indexing.Columns;

/// <summary>
/// The sort values of the 4,096 entries of a window, where all of them are whole numbers from −2⁵³ to 2⁵³, read in place: of each
/// the highest eight bits apart from the others, so that a range is held against 64 of them at a time, and the others are asked
/// only of those few that have the same highest bits as an end of the range. Key in the tree: entry id / 4,096, 8 bytes
/// big-endian; its entries have no <see cref="SortChunk"/>.
/// <code>
/// OFFSET   SIZE     MEANING
/// 0        2        n, slots: 1 to 4,096, little-endian; entries behind the last have no value
/// 2        1        w, bits of a value: 0, or 8 to 55
/// 3        1        1: each slot has a value; 0: bits say which
/// 4        8        the least, little-endian
/// 12       8        the greatest, little-endian
/// 20       44       0: what is behind begins with a line of the processor's cache where the block has pages of its own
/// 64       64·g     where w is not 0: the highest 8 bits of the value of each slot, less the least, a byte each; g = ⌈n / 64⌉
/// …        8·g      where bits say which slots have a value: these, little-endian
/// …        8·g·v    where v = w − 8 is more than 0: the other v bits of each, lowest first; then eight bytes of 0
/// </code>
/// </summary>
internal readonly ref struct NumberBlock
{
    public const int EntryBits = PostingWindow.SizeBits;
    public const int Entries = 1 << EntryBits;

    /// <summary>Chunks it stands for.</summary>
    public const int Chunks = Entries / SortChunk.Entries;

    public const int WidthOffset = 2;
    public const int AllOffset = 3;
    public const int LeastOffset = 4;
    public const int GreatestOffset = 12;
    public const int HeaderBytes = 64;

    /// <summary>Bits of a value that lie apart.</summary>
    public const int HighBits = 8;

    /// <summary>Bytes behind the lowest bits: eight are read at a time.</summary>
    public const int SlackBytes = sizeof(ulong);

    /// <summary>Widest value.</summary>
    public const int MaxBits = 55;

    /// <summary>Longest encoding.</summary>
    public const int MaxBytes = HeaderBytes + Entries + (Entries / 8) + (Entries / 8 * (MaxBits - HighBits)) + SlackBytes;

    /// <summary>Of so many of 64 values whose lower bits have to be looked at all are compared, eight at a time.</summary>
    private const int FromWhereAll = 16;

    private readonly ReadOnlySpan<byte> bytes;
    private readonly int presentStart;
    private readonly int lowStart;

    /// <param name="bytes">The value.</param>
    /// <exception cref="CorruptionException">It is none.</exception>
    public NumberBlock(ReadOnlySpan<byte> bytes)
    {
        this.bytes = bytes;
        if (bytes.Length < HeaderBytes)
            throw Damaged();
        Count = BinaryPrimitives.ReadUInt16LittleEndian(bytes);
        int width = bytes[WidthOffset], groups = Groups;
        HasAll = bytes[AllOffset] != 0;
        Least = BinaryPrimitives.ReadInt64LittleEndian(bytes[LeastOffset..]);
        presentStart = HeaderBytes + (width == 0 ? 0 : groups << SortChunk.EntryBits);
        lowStart = presentStart + (HasAll ? 0 : groups * sizeof(ulong));
        LowBits = Math.Max(0, width - HighBits);
        ulong most = width == 0 ? 0 : ulong.MaxValue >> (64 - width);
        if (width is > 0 and < HighBits or > MaxBits
            || Count is 0 or > Entries
            || bytes.Length != lowStart + LowBytes(groups, LowBits)
            || Least is < -SortChunk.MaxPacked or > SortChunk.MaxPacked || Greatest < Least || (ulong)(Greatest - Least) > most)
        {
            throw Damaged();
        }
    }

    /// <summary>Slots.</summary>
    public int Count { get; }

    /// <summary>Whether each of them has a value.</summary>
    public bool HasAll { get; }

    /// <summary>Whether each entry of the window has a value.</summary>
    public bool IsWhole => HasAll && Count == Entries;

    /// <summary>The least value.</summary>
    public long Least { get; }

    /// <summary>The greatest.</summary>
    public long Greatest => BinaryPrimitives.ReadInt64LittleEndian(bytes[GreatestOffset..]);

    /// <summary>Bits of a value that are not apart.</summary>
    private int LowBits { get; }

    private int Groups => (Count + SortChunk.Entries - 1) >> SortChunk.EntryBits;

    private bool IsConstant => presentStart == HeaderBytes;

    /// <summary>Bytes of the lower bits.</summary>
    public static int LowBytes(int groups, int bits) => bits == 0 ? 0 : (groups * sizeof(ulong) * bits) + SlackBytes;

    /// <summary>Whether a slot has a value.</summary>
    public bool Has(int slot) => slot < Count && (HasAll || (bytes[presentStart + (slot >> 3)] >> (slot & 7) & 1) != 0);

    /// <summary>The value of a slot that has one.</summary>
    public long ValueAt(int slot) => Least + (long)Above(slot);

    /// <summary>Leaves the 64 words of a window those of their entries that have a value between two, both included.</summary>
    public void Between(long low, long high, Span<ulong> words)
    {
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
        ReadOnlySpan<byte> highest = bytes[HeaderBytes..presentStart];
        if (!ByteKernels.Between(highest, outer, inner, words, edges))
            return;

        for (int i = 0; i < groups; i++)
        {
            if (edges[i] == 0)
                continue;
            words[i] &= ~edges[i] | (LowBits <= PackedKernels.MaxBits && BitOperations.PopCount(edges[i]) >= FromWhereAll
                ? EdgesOf(
                    highest.Slice(i << SortChunk.EntryBits, SortChunk.Entries),
                    bytes[(lowStart + (i * sizeof(ulong) * LowBits))..], outer, (uint)(from & mask), (uint)(to & mask))
                : EdgesOf(i, edges[i], from, to - from));
        }
    }

    /// <summary>
    /// Counts, of some entries of a window each of which has a value, those with one between two, both included, as far as their
    /// highest bits tell, and asks for the lower ones of the others, to be counted by <see cref="CountOpen"/>.
    /// </summary>
    /// <param name="low">The lower end.</param>
    /// <param name="high">The upper.</param>
    /// <param name="entries">The entries: a list, or a bitmap.</param>
    /// <param name="open">Room for 4,096 offsets: gets those of the others.</param>
    /// <param name="openCount">How many they are.</param>
    public int CountBetween(long low, long high, in PostingWindow entries, Span<ushort> open, out int openCount)
    {
        Debug.Assert(IsWhole && entries.Form is WindowSetForm.List or WindowSetForm.Bits);
        openCount = 0;
        if (low > high || low > Greatest || high < Least)
            return 0;
        if (low <= Least && high >= Greatest)
            return entries.Count;

        (ulong from, ulong to) = Above(low, high);
        (ByteRange outer, ByteRange inner) = Highest(from, to);
        ReadOnlySpan<byte> highest = bytes[HeaderBytes..presentStart];
        int count = entries.Form == WindowSetForm.List
            ? ByteKernels.Count(highest, outer, inner, entries.Offsets, open, out openCount)
            : ByteKernels.Count(highest, outer, inner, entries.Words, open, out openCount);
        foreach (ushort slot in open[..openCount])
            PrefetchKernels.Prefetch(in bytes[lowStart + (slot * LowBits >> 3)]);
        return count;
    }

    /// <summary>How many of the offsets that <see cref="CountBetween"/> left open have a value between the two.</summary>
    public int CountOpen(long low, long high, ReadOnlySpan<ushort> open)
    {
        (ulong from, ulong to) = Above(low, high);
        ulong span = to - from;
        int count = 0;
        foreach (ushort slot in open)
            count += Above(slot) - from <= span ? 1 : 0;
        return count;
    }

    /// <summary>By how much the ends of a range, in which some values are, exceed the least.</summary>
    private (ulong From, ulong To) Above(long low, long high) =>
        (low <= Least ? 0 : (ulong)(low - Least), (ulong)(Math.Min(high, Greatest) - Least));

    /// <summary>
    /// Of such a range, the highest bits that a value in it may have, and those with which it is in it whatever its lower bits
    /// are. Not all values are in it, so they differ, and have bits.
    /// </summary>
    private (ByteRange Outer, ByteRange Inner) Highest(ulong from, ulong to)
    {
        ulong mask = (1UL << LowBits) - 1;
        var outer = new ByteRange((int)(from >> LowBits), (int)(to >> LowBits));
        return (outer, new ByteRange(outer.First + ((from & mask) == 0 ? 0 : 1), outer.Last - ((to & mask) == mask ? 0 : 1)));
    }

    /// <summary>Whether a slot has a value between two, both included.</summary>
    public bool IsBetween(int slot, long low, long high) =>
        Has(slot) && ValueAt(slot) is var value && value >= low && value <= high;

    /// <summary>Of offsets in the window, keeps in place those with a value between two; returns how many stay.</summary>
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

    /// <summary>Of 64 slots those that are in the range, as far as the highest bits are those of an end.</summary>
    private ulong EdgesOf(ReadOnlySpan<byte> highest, ReadOnlySpan<byte> lowest, ByteRange outer, uint from, uint to)
    {
        uint mask = (1u << LowBits) - 1;
        ulong first = ByteKernels.Equal(highest, (byte)outer.First), last = ByteKernels.Equal(highest, (byte)outer.Last);
        ulong fits = ulong.MaxValue;
        if (first != 0)
            fits &= ~first | PackedKernels.Between(lowest, LowBits, from, mask - from);
        if (last != 0)
            fits &= ~last | PackedKernels.Between(lowest, LowBits, 0, to);
        return fits;
    }

    /// <summary>Of some of 64 slots those that are in the range.</summary>
    private ulong EdgesOf(int group, ulong asked, ulong from, ulong span)
    {
        ulong found = 0;
        for (; asked != 0; asked &= asked - 1)
        {
            int slot = BitOperations.TrailingZeroCount(asked);
            found |= (Above((group << SortChunk.EntryBits) + slot) - from <= span ? 1UL : 0) << slot;
        }

        return found;
    }

    /// <summary>By how much the value of a slot exceeds the least.</summary>
    private ulong Above(int slot)
    {
        if (IsConstant)
            return 0;
        ulong high = bytes[HeaderBytes + slot];
        if (LowBits == 0)
            return high;
        int bit = slot * LowBits;
        ulong low = BinaryPrimitives.ReadUInt64LittleEndian(bytes[(lowStart + (bit >> 3))..]) >> (bit & 7);
        return (high << LowBits) | (low & ((1UL << LowBits) - 1));
    }

    private void KeepPresent(Span<ulong> words)
    {
        if (HasAll)
        {
            if ((Count & (SortChunk.Entries - 1)) is > 0 and var rest)
                words[^1] &= (1UL << rest) - 1;
            return;
        }

        ReadOnlySpan<byte> present = bytes[presentStart..];
        for (int i = 0; i < words.Length; i++)
            words[i] &= BinaryPrimitives.ReadUInt64LittleEndian(present[(i * sizeof(ulong))..]);
    }

    private static CorruptionException Damaged() =>
        new("A block of numbers in the index is damaged. Reset the index to build it again.");
}
