using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Columns;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Matching;

/// <summary>
/// A range over numbers too wide to gather from the dictionary: compares the sort values of each requested window with the
/// bounds. A window stored as a <see cref="NumberBlock"/> is compared at once, otherwise chunk by chunk (64 entries, one
/// word of the window's bitmap). Correct only for entries with a single value.
/// </summary>
/// <param name="context">The query.</param>
/// <param name="all">Matches every entry: tells which windows exist.</param>
/// <param name="column">Sort values of the field.</param>
/// <param name="low">Lowest number in the range, as a <see cref="NumberKey"/>; null if unbounded.</param>
/// <param name="high">Highest number in the range, as a <see cref="NumberKey"/>; null if unbounded.</param>
/// <param name="count">Number of entries in the range.</param>
internal sealed class ColumnRangeOperator(
    QueryContext context, Operator all, SortColumn column, byte[]? low, byte[]? high, long count)
    : Operator(
        context, MatchEstimate.Exactly(count),
        column.HasNumbers
            ? new(CostModel.NumberWindow, CostModel.NumberProbe)
            : new(CostModel.ColumnWindow, CostModel.ColumnProbe))
{
    private const int ChunksPerWindow = PostingWindow.Size / SortChunk.Entries;

    /// <summary>
    /// Up to this many entries of a number block are compared one by one; comparing more costs as much as comparing all.
    /// </summary>
    private const int MostSingle = 48;

    private readonly ulong _lowHead = low is null ? 0 : BinaryPrimitives.ReadUInt64BigEndian(low);
    private readonly ulong _highHead = high is null ? ulong.MaxValue : BinaryPrimitives.ReadUInt64BigEndian(high);
    private readonly long _lowWhole = low is null ? -SortChunk.MaxPacked : LeastNotBelow(low);
    private readonly long _highWhole = high is null ? SortChunk.MaxPacked : GreatestNotAbove(high);

    /// <summary>Field and bounds, shown in the plan.</summary>
    public (string? Field, string? Label) Name { get; set; }

    public override PlanNode Describe() =>
        new("range, compared with sort values", Name.Field, Name.Label) { Estimate = Estimate, IsExact = true };

    public override long Next(long from) => all.Next(from);

    public override void Fill(long window, WindowSet set)
    {
        set.SetFull();
        Narrow(window, set.ToBits());
    }

    /// <summary>If the set is narrowed, reads only chunks that contain survivors.</summary>
    public override void Combine(long window, WindowSet set, SetOperation operation)
    {
        if (operation != SetOperation.And)
        {
            base.Combine(window, set, operation);
            return;
        }

        if (set.Form == WindowSetForm.List && set.Count <= MostSingle && column.TryReadNumbers(window, out NumberBlock numbers))
        {
            Context.Meter.Count.EntriesScanned += set.Count;
            set.SetOffsets(set.List[..numbers.Keep(_lowWhole, _highWhole, set.List)]);
            return;
        }

        Narrow(window, set.ToBits());
    }

    public override int Keep(long window, Span<ushort> offsets, bool wanted)
    {
        if (!wanted || offsets.Length > MostSingle || !column.TryReadNumbers(window, out NumberBlock numbers))
            return base.Keep(window, offsets, wanted);
        Context.Meter.Count.EntriesScanned += offsets.Length;
        return numbers.Keep(_lowWhole, _highWhole, offsets);
    }

    /// <summary>Returns the column range that a clause is or traces, or null if it is something else.</summary>
    public static ColumnRangeOperator? Of(Operator clause) =>
        (clause is TracedOperator traced ? traced.Inner : clause) as ColumnRangeOperator;

    /// <summary>
    /// Counts the entries of a list that are in the range. Entries that the highest bits of a window's numbers leave
    /// undecided are resolved one window later: their lower bits are scattered over the window and are prefetched together.
    /// </summary>
    /// <param name="list">The unrolled list.</param>
    public long Count(PostingList list)
    {
        Debug.Assert(list.IsUnrolled || list.Windows == 0, "windows are counted by place");
        const int Ahead = 2;
        Span<ushort> open = Context.RentOffsets(), openBefore = Context.RentOffsets();
        NumberBlock before = default;
        int leftBefore = 0;
        long total = 0;
        WindowSet set = Context.Rent();
        for (int place = 0; place < list.Windows; place++)
        {
            if ((place & 63) == 0)
                Context.Check();
            if (place + Ahead < list.Windows)
                list[place + Ahead].PrefetchIds();
            long window = list[place].Window;
            PostingWindow mine = list[place].Postings;
            if (mine.Form == WindowSetForm.Full || !column.TryReadNumbers(window, out NumberBlock numbers) || !numbers.IsWhole)
            {
                set.Set(in mine);
                And(window, set);
                total += set.Count;
                continue;
            }

            Context.Meter.Count.EntriesScanned += mine.Form == WindowSetForm.List ? mine.Count : numbers.Count;
            total += numbers.CountBetween(_lowWhole, _highWhole, in mine, open, out int left);
            total += leftBefore == 0 ? 0 : before.CountOpen(_lowWhole, _highWhole, openBefore[..leftBefore]);
            before = numbers;
            leftBefore = left;
            Span<ushort> free = openBefore;
            openBefore = open;
            open = free;
        }

        Context.Return(set);
        return total + (leftBefore == 0 ? 0 : before.CountOpen(_lowWhole, _highWhole, openBefore[..leftBefore]));
    }

    /// <summary>Clears the bits of entries outside the range.</summary>
    private void Narrow(long window, Span<ulong> words)
    {
        if (!column.TryReadNumbers(window, out NumberBlock numbers))
        {
            NarrowChunks(window, words);
            return;
        }

        Context.Meter.Count.EntriesScanned += numbers.Count;
        numbers.Between(_lowWhole, _highWhole, words);
    }

    /// <summary>
    /// As <see cref="Narrow"/>, for windows without a number block: walks leaf by leaf, since chunks have hardly any gaps.
    /// </summary>
    private void NarrowChunks(long window, Span<ulong> words)
    {
        Debug.Assert(words.Length == ChunksPerWindow, "each chunk is a word of the bitmap");
        long start = window * ChunksPerWindow;
        for (int i = 0; i < ChunksPerWindow;)
        {
            if (words[i] == 0)
            {
                i++;
                continue;
            }

            if (!column.TryReadLeaf(start + i, out LeafEntries leaf, out long first))
            {
                words[i] = Matches(column.Read(start + i), words[i]);
                i++;
                continue;
            }

            int before = (int)(start - first); // negative if the leaf begins within the window
            int end = Math.Min(ChunksPerWindow, leaf.Count - before);
            for (; i < end; i++)
            {
                if (words[i] != 0)
                    words[i] = Matches(Counted(leaf.Value(before + i)), words[i]);
            }
        }
    }

    private SortChunk Counted(ReadOnlySpan<byte> chunk)
    {
        Context.Meter.Count.BlocksDecoded++;
        Context.Meter.Count.BytesDecoded += chunk.Length;
        return new SortChunk(chunk);
    }

    public override bool Contains(long id)
    {
        if (column.TryReadNumbers(id >> NumberBlock.EntryBits, out NumberBlock numbers))
        {
            Context.Meter.Count.EntriesScanned++;
            return numbers.IsBetween((int)(id & (NumberBlock.Entries - 1)), _lowWhole, _highWhole);
        }

        ulong bit = 1UL << (int)(id & (SortChunk.Entries - 1));
        return Matches(column.Read(id >> SortChunk.EntryBits), bit) != 0;
    }

    /// <summary>Returns the requested entries of a chunk that are in the range, as a bitmap.</summary>
    private ulong Matches(SortChunk chunk, ulong asked)
    {
        ulong found = 0;
        int count = chunk.Count;
        if (count < SortChunk.Entries)
            asked &= (1UL << count) - 1;
        Context.Meter.Count.EntriesScanned += BitOperations.PopCount(asked);
        if (chunk.IsPacked)
            return chunk.PackedBetween(_lowWhole, _highWhole, asked);
        for (; asked != 0; asked &= asked - 1)
        {
            int slot = BitOperations.TrailingZeroCount(asked);
            ulong head = chunk.HeadAt(slot);
            if (head >= _lowHead && head <= _highHead && chunk.TagAt(slot) == SortTag.Number && IsInside(chunk, slot, head))
                found |= 1UL << slot;
        }

        return found;
    }

    /// <summary>Decides a value whose first eight bytes equal those of a bound by its last two bytes.</summary>
    private bool IsInside(SortChunk chunk, int slot, ulong head)
    {
        if (head != _lowHead && head != _highHead)
            return true;

        ReadOnlySpan<byte> number = chunk.NumberAt(slot, stackalloc byte[NumberKey.Bytes]);
        return (head != _lowHead || low is null || number.SequenceCompareTo(low) >= 0)
            && (head != _highHead || high is null || number.SequenceCompareTo(high) <= 0);
    }

    /// <summary>
    /// The smallest whole number a block or packed chunk can hold that is not below a key; one more than the largest if all
    /// are below. The key need not encode a number.
    /// </summary>
    private static long LeastNotBelow(byte[] bound)
    {
        Span<byte> key = stackalloc byte[NumberKey.Bytes];
        long from = -SortChunk.MaxPacked, to = SortChunk.MaxPacked + 1;
        while (from < to)
        {
            long middle = from + ((to - from) >> 1);
            NumberKey.Write(key, middle);
            if (key.SequenceCompareTo(bound) < 0)
                from = middle + 1;
            else
                to = middle;
        }

        return from;
    }

    /// <summary>
    /// The largest whole number a block or packed chunk can hold that is not above a key; one less than the smallest if all
    /// are above.
    /// </summary>
    private static long GreatestNotAbove(byte[] bound)
    {
        Span<byte> key = stackalloc byte[NumberKey.Bytes];
        long least = LeastNotBelow(bound);
        if (least > SortChunk.MaxPacked)
            return SortChunk.MaxPacked;
        NumberKey.Write(key, least);
        return key.SequenceEqual(bound) ? least : least - 1;
    }
}
