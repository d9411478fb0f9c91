using System.Numerics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Sorting;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Of long lists all of which have to match: what each block of 64 entries can score at the most, the sum of what it can in each list, is put down for all blocks of the index before any hit is looked at. Blocks are then scored
/// from the greatest on, a few at a time, so that after some of them hardly any other can hold one of the best: of bitmaps, frequencies and lengths only those of such blocks are looked at, and bitmaps as a whole only where hits are counted.
/// After block-max indexes (Ding and Suel 2011), with blocks of entries instead of postings, so that those of several lists are the same.
/// </summary>
/// <remarks>Memory until the query ends: 131 bytes a window.</remarks>
internal sealed class BlockRanking(QueryContext context, ListQuery query, HitSorter sorter) : ListRanking(context, query, sorter)
{
    private const int Blocks = PostingWindow.Blocks;

    /// <summary>The first level is that which so many windows reach.</summary>
    private const int FirstWindows = 32;

    /// <summary>Bits of a level that are looked at to find it.</summary>
    private const int FirstBits = 8;

    /// <summary>So many times the blocks of a lower level are looked at, before all that are left.</summary>
    private const int MostLevels = 10;

    /// <summary>How much lower a level is than the one before it, at least; and where nothing is known about what has to be beaten.</summary>
    private const int LeastStep = LevelKernels.Greatest / 64, PlainStep = 2 * LeastStep;

    /// <summary>A part of what is between a level and what has to be beaten.</summary>
    private const int StepPart = 4;

    /// <summary>From so many hits of a window on it is looked at what each of them promises.</summary>
    private const int ManyHits = 24;

    private readonly WindowSet set = context.Rent();
    private readonly ushort[] hits = context.RentOffsets();
    private readonly ushort[] weights = new ushort[query.Clauses.Length];
    private int[] order = [];
    private double scale;
    private EntryBounds? entryBounds;

    /// <summary>By window of the rarest list, the levels of its blocks; 0 where the block was looked at, or a list has nothing in the window.</summary>
    private ushort[] levels = [];

    /// <summary>By window, the greatest of these.</summary>
    private ushort[] greatest = [];

    /// <summary>By window, whether it was looked at.</summary>
    private byte[] seen = [];

    private UnrolledList Lead => Lists[order[0]]!; // none is asked

    /// <summary>The least level that a hit must have to be one of the best.</summary>
    private int Needed => Sorter.WorstScore > 0 ? (int)Math.Clamp(Math.Ceiling(Sorter.WorstScore * scale / Margin), 1, ushort.MaxValue + 1) : 1;

    public override long Run(bool countsHits)
    {
        Unroll();
        order = Order();
        Weigh();
        int windows = Lead.Count;
        levels = Context.RentOffsets(windows * Blocks);
        greatest = Context.RentOffsets(windows);
        seen = Context.RentBytes(windows);
        seen.AsSpan(0, windows).Clear();
        long counted = Look(countsHits);
        long found = RankLevels(greatest.AsSpan(0, windows));
        WindowsBelowBound -= WindowsScored;
        Context.Return(set);
        IsTotalExact = countsHits;
        return countsHits ? counted : found;
    }

    /// <summary>What an impact of a list adds to a level: all lists together never more than fits, and no weight more than that.</summary>
    private void Weigh()
    {
        double sum = 0;
        foreach (ListClause clause in Query.Clauses)
            sum += clause.Unit * (double)(1 << LevelKernels.FractionBits);
        scale = (LevelKernels.Greatest - (2 * weights.Length)) / sum; // of each list a weight and a product are rounded up
        for (int i = 0; i < weights.Length; i++)
            weights[i] = (ushort)Math.Ceiling(Query.Clauses[i].Unit * scale * (1 << LevelKernels.FractionBits));
    }

    /// <summary>Finds the levels of all blocks; returns how many hits there are, where they are to be counted.</summary>
    private long Look(bool counts)
    {
        long total = 0;
        for (int place = 0; place < Lead.Count; place++)
        {
            if ((place & 63) == 0)
                Context.Check();
            greatest[place] = 0;
            if (!StepTo(place, counts))
                continue;

            WindowsBelowBound++;
            Span<ushort> mine = LevelsOf(place);
            mine.Clear();
            for (int i = 0; i < weights.Length; i++)
                greatest[place] = LevelKernels.Add(PostingsOf(i).Impacts, weights[i], mine);
            total += counts ? Count() : 0;
        }

        return total;
    }

    /// <summary>Looks at blocks level by level, as long as there may be one of the best in them; returns how many hits they have.</summary>
    private long RankLevels(ReadOnlySpan<ushort> windows)
    {
        long found = 0;
        int level = FirstLevel(windows);
        for (int pass = 1; ; pass++)
        {
            level = Math.Max(pass == MostLevels ? 1 : level, Needed);
            for (int place = 0; level <= ushort.MaxValue && place < windows.Length; place++)
            {
                int next = windows[place..].IndexOfAnyInRange((ushort)level, ushort.MaxValue);
                if (next < 0)
                    break;
                place += next;
                if (windows[(place + 1)..].IndexOfAnyInRange((ushort)level, ushort.MaxValue) is >= 0 and int behind)
                    Announce(Lead.WindowAt(place + 1 + behind));
                found += Visit(place, (ushort)level);
                level = Math.Max(level, Needed);
            }

            int needed = Needed;
            if (level <= needed)
                return found;
            level -= needed == 1 ? PlainStep : Math.Max(LeastStep, (level - needed) / StepPart);
        }
    }

    /// <summary>The level that enough windows reach to begin with.</summary>
    private static int FirstLevel(ReadOnlySpan<ushort> windows)
    {
        Span<int> counts = stackalloc int[1 << FirstBits];
        counts.Clear();
        foreach (ushort window in windows)
            counts[window >> (LevelKernels.Bits - FirstBits)]++;
        int level = counts.Length, reaching = 0;
        while (level > 0 && reaching < FirstWindows)
            reaching += counts[--level];
        return Math.Max(1, level << (LevelKernels.Bits - FirstBits));
    }

    /// <summary>Offers the best hits of those blocks of a window that have a level at least; returns how many hits these blocks have.</summary>
    private int Visit(int place, ushort level)
    {
        Context.Check();
        long window = Lead.WindowAt(place);
        Stand(window);
        WindowsScored += seen[place] == 0 ? 1 : 0;
        seen[place] = 1;
        ulong blocks = LevelKernels.Take(LevelsOf(place), level, out greatest[place]);
        Span<ulong> words = stackalloc ulong[Blocks];
        words.Clear();
        int count = Meet(blocks, words), left = count;
        if (count >= ManyHits && Sorter.WorstScore > 0)
            left = Narrow(window, words);
        if (left > 0)
        {
            Span<ushort> mine = hits.AsSpan(0, BitmapKernels.Decode(words, hits));
            Query.Clauses[0].Scorer!.Factors.Prefetch(window, mine); // each has one
            Context.Meter.Count.CandidatesScored += left;
            Offer(window, mine);
        }

        return count;
    }

    /// <summary>Writes the hits of some blocks of the window that all lists stand on; returns how many.</summary>
    private int Meet(ulong blocks, Span<ulong> words)
    {
        if (!AreBitmaps())
        {
            Intersect();
            set.CopyWords(words);
            for (int block = 0; block < Blocks; block++)
                words[block] = (blocks >> block & 1) == 0 ? 0 : words[block];
            return BitmapKernels.Count(words);
        }

        for (ulong left = blocks; left != 0; left &= left - 1)
            words[BitOperations.TrailingZeroCount(left)] = ulong.MaxValue;
        for (int i = 0; i < weights.Length; i++)
        {
            ReadOnlySpan<ulong> mine = PostingsOf(i).Words;
            if (mine.IsEmpty)
                continue; // it has all entries
            for (ulong left = blocks; left != 0; left &= left - 1)
            {
                int block = BitOperations.TrailingZeroCount(left);
                words[block] &= mine[block];
            }
        }

        int count = 0;
        for (ulong left = blocks; left != 0; left &= left - 1)
            count += BitOperations.PopCount(words[BitOperations.TrailingZeroCount(left)]);
        return count;
    }

    /// <summary>Takes hits out that cannot be one of the best by what is known of each; returns how many are left.</summary>
    private int Narrow(long window, Span<ulong> words)
    {
        entryBounds ??= new EntryBounds(Context);
        entryBounds.Begin(words);
        for (int i = 0; i < weights.Length; i++)
        {
            ListClause clause = Query.Clauses[i];
            PostingWindow postings = PostingsOf(i);
            TermScorer scorer = clause.Scorer!; // each has one
            if (!entryBounds.TryAdd(in postings, scorer, clause.Boost))
                scorer.AddBounds(in postings, entryBounds.Rest, scorer.Weight(clause.Boost));
        }

        entryBounds.Narrow(window, words, Sorter.WorstScore, Margin);
        return BitmapKernels.Count(words);
    }

    /// <summary>How many hits there are in the window that all lists stand on.</summary>
    private int Count()
    {
        if (order.Length == 2)
        {
            PostingWindow one = PostingsOf(0), other = PostingsOf(1);
            if (one.Form == WindowSetForm.Bits && other.Form == WindowSetForm.Bits)
                return BitmapKernels.CountBoth(one.Words, other.Bitmap);
            if (one.Form == WindowSetForm.List && other.Form != WindowSetForm.List)
                return other.CountIn(one.Offsets);
            if (other.Form == WindowSetForm.List && one.Form != WindowSetForm.List)
                return one.CountIn(other.Offsets);
        }

        Intersect();
        return set.Count;
    }

    private void Intersect()
    {
        set.Set(PostingsOf(order[0]));
        for (int i = 1; i < order.Length && !set.IsEmpty; i++)
            set.And(PostingsOf(order[i]));
    }

    private bool AreBitmaps()
    {
        for (int i = 0; i < weights.Length; i++)
        {
            if (PostingsOf(i).Form == WindowSetForm.List)
                return false;
        }

        return true;
    }

    /// <summary>Lets all lists stand on a window of the rarest, behind the one before; false if one of them has nothing there.</summary>
    private bool StepTo(int place, bool counts)
    {
        long window = Lead.WindowAt(place);
        for (int i = 0; i < order.Length; i++)
        {
            UnrolledList list = Lists[order[i]]!; // none is asked
            ref int at = ref Places[order[i]];
            at = i == 0 ? place : list.Step(at, window);
            if (list.WindowAt(at) != window)
                return false;
            list.AnnounceBlocks(at, withIds: counts);
        }

        return true;
    }

    /// <summary>Lets all lists stand on a window that they have.</summary>
    private void Stand(long window)
    {
        for (int i = 0; i < weights.Length; i++)
            Places[i] = Lists[i]!.PlaceOf(window); // none is asked
    }

    /// <summary>Asks for the ids of a window that all lists have.</summary>
    private void Announce(long window)
    {
        for (int i = 0; i < weights.Length; i++)
        {
            UnrolledList list = Lists[i]!; // none is asked
            list.AnnounceIds(list.PlaceOf(window));
        }
    }

    private PostingWindow PostingsOf(int clause) => Lists[clause]!.PostingsAt(Places[clause]); // none is asked

    private Span<ushort> LevelsOf(int place) => levels.AsSpan(place * Blocks, Blocks);
}
