using System.Runtime.CompilerServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching.Lists;

/// <summary>
/// Of lists all of which have to match, some of few entries a window and others of many: what the former have in common is sought in all windows of the others, which is a look at a bit for each, so hits are counted in any case.
/// Some windows are gone along together, so that what is looked at in each comes from far away while something else is done. What the short lists give a hit is worked out at once, and what the long ones give in its block at the most. When there are
/// some hundred hits, those that promise most are scored first, so that of most others nothing more is looked at in the longer lists.
/// </summary>
/// <remarks>Memory until the query ends: some 30 KiB, and 4 for each list that is merged; 4 KiB stay.</remarks>
internal sealed class ProbedLists : IReusable
{
    private const float Margin = Bm25.BoundMargin;

    /// <summary>Windows that are gone along together, fewer where they have more entries than <see cref="MostTogether"/>.</summary>
    private const int WindowsTogether = 16;

    /// <summary>Entries of these, but for those of the last.</summary>
    private const int MostTogether = 1_024;

    /// <summary>From so many hits on the best of them are offered before others are looked at.</summary>
    private const int MostKnown = 512;

    /// <summary>Hits that may be known before that.</summary>
    private const int Room = 2 * MostKnown;

    private QueryScratch? scratch;
    private QueryMeter meter = new();
    private QueryContext? context;
    private CancellationToken cancellationToken;
    private readonly Met[] met = new Met[WindowsTogether];
    private int metCount;
    private int metEntries;

    /// <summary>By window that is met, and merged list, its postings there.</summary>
    private HeldWindow[] held = [];
    private SegmentList[] inOrder = [];

    /// <summary>By window that is met, and list, the place in its windows.</summary>
    private int[] places = [];

    private ushort[] entries = [];

    // By hit that is known: what the merged lists give it, one after the other, what its length does to all parts, the most that it can score, and its id.
    private float[] parts = [];
    private float[] ofLengths = [];
    private float[] most = [];
    private ulong[] ids = [];
    private int[] reaching = [];
    private int known;

    /// <summary>Windows of which hits were scored as far as the merged lists go.</summary>
    public long WindowsScored { get; private set; }

    /// <summary>Windows that have hits, none of which could be among the best.</summary>
    public long WindowsBelowBound { get; private set; }

    /// <summary>Begins a query.</summary>
    /// <param name="room">What it works with, until the query ends.</param>
    /// <param name="ofQuery">Counts what is scored.</param>
    /// <param name="asked">Is asked at times whether the query may go on; null: the token alone says so.</param>
    /// <param name="token">As <paramref name="asked"/>.</param>
    public void Open(QueryScratch room, QueryMeter ofQuery, QueryContext? asked, CancellationToken token) =>
        (scratch, meter, context, cancellationToken) = (room, ofQuery, asked, token);

    public void Clear()
    {
        (scratch, context, cancellationToken) = (null, null, default);
        (entries, parts, ofLengths, most, ids, reaching) = ([], [], [], [], [], []);
        (known, metCount, WindowsScored, WindowsBelowBound) = (0, 0, 0, 0);
    }

    /// <summary>Offers the best; returns how many hits there are.</summary>
    /// <param name="lists">The lists, in the order in which their parts are added up.</param>
    /// <param name="order">These in the order in which they are looked at: merged ones first, of which there is one at least, then the others, the rarest of each first.</param>
    /// <param name="best">What hits are offered to.</param>
    public long Run<TBest>(ReadOnlySpan<ProbedList> lists, ReadOnlySpan<int> order, scoped ref TBest best)
        where TBest : IBestHits, allows ref struct
    {
        int merged = 0;
        while (merged < order.Length && lists[order[merged]].Merged is not null)
            merged++;
        var run = new Lists(lists, order, merged);
        ushort[] common = Open(in run);
        var windows = new ListIntersection(inOrder.AsSpan(0, merged), common, context, cancellationToken);
        long total = 0;
        for (bool more = true; more;)
        {
            context?.Check();
            cancellationToken.ThrowIfCancellationRequested();
            more = merged == 1 ? Meet(in run, inOrder[0]) : Meet(in run, inOrder.AsSpan(0, merged), ref windows);
            total += Probe(in run);
            Score(in run, ref best);
        }

        Offer(in run, ref best);
        return total;
    }

    /// <summary>Takes what it works with; returns room for what several merged lists have in common in a window.</summary>
    private ushort[] Open(in Lists run)
    {
        QueryScratch room = scratch ?? throw new InvalidOperationException("No query was begun.");
        int merged = run.Merged, count = run.Order.Length;
        if (inOrder.Length < merged)
            (inOrder, held) = (new SegmentList[merged], new HeldWindow[WindowsTogether * merged]);
        for (int i = 0; i < merged; i++)
            inOrder[i] = run[i].Merged!; // it is
        if (places.Length < count * (WindowsTogether + 1))
            places = new int[count * (WindowsTogether + 1)];
        places.AsSpan(WindowsTogether * count, count).Clear();
        entries = room.RentOffsets(MostTogether + PostingWindow.Size);
        (parts, ofLengths, most) = (room.RentNumbers(Room * merged), room.RentNumbers(Room), room.RentNumbers(Room));
        (ids, reaching) = (room.RentWords(Room), room.RentPlaces(Room));
        return merged > 1 ? room.RentOffsets(PostingWindow.Size) : [];
    }

    /// <summary>Meets the next windows of the only merged list; false behind the last.</summary>
    private bool Meet(in Lists run, SegmentList lead)
    {
        (metCount, metEntries) = (0, 0);
        while (metCount < WindowsTogether && metEntries < MostTogether)
        {
            if (!lead.IsOnWindow && !lead.MoveNextSegment())
                return false;
            ref HeldWindow postings = ref held[metCount];
            postings = lead.Held;
            lead.At++;
            ReadOnlySpan<ushort> mine = OffsetsOf(in postings);
            ref Met here = ref met[metCount];
            (here.Window, here.Start, here.Count) = (postings.Window, metEntries, postings.Count);
            if (mine.IsEmpty)
                postings.Postings.CopyOffsets(entries.AsSpan(here.Start));
            if (!Stand(in run, here.Window))
                continue;
            First(in run).Announce(places[(metCount * run.Order.Length) + run.Merged], mine.IsEmpty ? entries.AsSpan(here.Start, here.Count) : mine);
            metEntries += here.Count;
            metCount++;
        }

        return true;
    }

    /// <summary>Meets the next windows in which the merged lists have entries in common; false if there are no more.</summary>
    private bool Meet(in Lists run, ReadOnlySpan<SegmentList> merged, scoped ref ListIntersection windows)
    {
        (metCount, metEntries) = (0, 0);
        while (metCount < WindowsTogether && metEntries < MostTogether)
        {
            if (!windows.MoveNext(out Span<ushort> common))
                return false;
            if (!Stand(in run, windows.Window))
                continue;
            for (int i = 0; i < merged.Length; i++)
                held[(metCount * merged.Length) + i] = merged[i].Held;
            common.CopyTo(entries.AsSpan(metEntries));
            First(in run).Announce(places[(metCount * run.Order.Length) + run.Merged], common);
            met[metCount] = new Met { Window = windows.Window, Start = metEntries, Count = common.Length };
            metEntries += common.Length;
            metCount++;
        }

        return true;
    }

    /// <summary>Lets the lists that are not merged stand on a window behind those before; false if one of them has not got it.</summary>
    private bool Stand(in Lists run, long window)
    {
        int count = run.Order.Length;
        Span<int> at = places.AsSpan(WindowsTogether * count, count), here = places.AsSpan(metCount * count, count);
        for (int i = run.Merged; i < count; i++)
        {
            UnrolledList list = run.Asked(i);
            at[i] = list.Step(at[i], window);
            here[i] = at[i];
            if (list.WindowAt(at[i]) != window)
                return false;
        }

        return true;
    }

    private static UnrolledList First(in Lists run) => run.Asked(run.Merged);

    /// <summary>Seeks the entries of the windows that are met in the lists that are not merged; returns how many are hits.</summary>
    private int Probe(in Lists run)
    {
        int total = 0;
        LengthFactors? lengths = run[0].Scorer?.Factors;
        for (int window = 0; window < metCount; window++)
        {
            ref Met here = ref met[window];
            ReadOnlySpan<ushort> left = run.Merged == 1 ? OffsetsOf(in held[window]) : default;
            if (left.IsEmpty)
                left = entries.AsSpan(here.Start, here.Count);
            Span<ushort> hits = entries.AsSpan(here.Start, here.Count);
            for (int i = run.Merged; i < run.Order.Length && !left.IsEmpty; i++)
                left = hits[..run.Asked(i).CopyCommon(places[(window * run.Order.Length) + i], left, hits)];
            here.Count = left.Length;
            total += here.Count;
            if (here.Count == 0 || lengths is null)
                continue;
            here.Lengths = lengths.Hold(here.Window);
            lengths.Of(in here.Lengths).Prefetch(left);
        }

        return total;
    }

    /// <summary>Works out what the hits of the windows that are met are given by the merged lists, and by the others at the most; offers the best when there are many.</summary>
    private void Score<TBest>(in Lists run, scoped ref TBest best)
        where TBest : IBestHits, allows ref struct
    {
        for (int window = 0; window < metCount; window++)
        {
            ref readonly Met here = ref met[window];
            if (here.Count == 0)
                continue;
            if (best.WorstScore > 0 && BoundOf(in run, window) * Margin < best.WorstScore)
            {
                WindowsBelowBound++;
                continue;
            }

            WindowsScored++;
            meter.Count.CandidatesScored += here.Count;
            for (int first = 0; first < here.Count; first += MostKnown)
            {
                Score(in run, window, entries.AsSpan(here.Start + first, Math.Min(MostKnown, here.Count - first)));
                if (known >= MostKnown)
                    Offer(in run, ref best);
            }
        }
    }

    /// <summary>Works that out for some hits of a window, and adds them to those that are known.</summary>
    private void Score(in Lists run, int window, ReadOnlySpan<ushort> hits)
    {
        Span<float> bounds = most.AsSpan(known, hits.Length);
        bounds.Clear();
        for (int i = 0; i < run.Merged; i++)
        {
            Span<float> mine = parts.AsSpan((i * Room) + known, hits.Length);
            WriteParts(in run, window, i, hits, mine);
            for (int hit = 0; hit < mine.Length; hit++)
                bounds[hit] += mine[hit];
        }

        for (int i = run.Merged; i < run.Order.Length; i++)
            run.Asked(i).AddBlockBounds(places[(window * run.Order.Length) + i], hits, bounds, run[i].Unit, run[i].Most);
        ulong start = (ulong)met[window].Window << PostingWindow.SizeBits;
        for (int hit = 0; hit < bounds.Length; hit++)
        {
            bounds[hit] *= Margin;
            ids[known + hit] = start + hits[hit];
        }

        known += hits.Length;
    }

    /// <summary>The most that the lists give an entry of a window that is met.</summary>
    private float BoundOf(in Lists run, int window)
    {
        float sum = 0;
        for (int i = 0; i < run.Order.Length; i++)
        {
            ref readonly ProbedList list = ref run[i];
            sum += i >= run.Merged ? run.Asked(i).Bound(places[(window * run.Order.Length) + i], list.Unit, list.Most)
                : list.Unit == 0 || list.Merged!.IsShort ? list.Most // it is merged
                : list.Unit * held[(window * run.Merged) + i].Postings.LargestImpact;
        }

        return sum;
    }

    /// <summary>Writes what a merged list gives hits of a window that is met; of the first also what lengths do.</summary>
    private void WriteParts(in Lists run, int window, int list, ReadOnlySpan<ushort> hits, Span<float> mine)
    {
        ref readonly ProbedList merged = ref run[list];
        if (merged.Scorer is not { } scorer)
        {
            mine.Fill(merged.Boost);
            return;
        }

        ref readonly HeldWindow found = ref held[(window * run.Merged) + list];
        PostingWindow postings = found.Postings;
        bool isFirst = scorer.Factors == run[0].Scorer?.Factors;
        WindowFactors lengths = isFirst ? scorer.Factors.Of(in met[window].Lengths) : scorer.Factors.OfWindow(met[window].Window);
        scorer.WriteParts(in postings, PaddedOf(in found), hits, in lengths, mine, isFirst ? ofLengths.AsSpan(known, hits.Length) : default, merged.Boost);
    }

    /// <summary>The offsets of a window; empty where they lie as bits.</summary>
    private static ReadOnlySpan<ushort> OffsetsOf(in HeldWindow found) => found.Count < PostingWindow.MinBitsCount ? found.PaddedOffsets[..found.Count] : default;

    /// <summary>As <see cref="OffsetsOf"/>, and behind them what may be read and means nothing; empty where there is not so much of it.</summary>
    private static ReadOnlySpan<ushort> PaddedOf(in HeldWindow found)
    {
        ReadOnlySpan<ushort> all = found.Count < PostingWindow.MinBitsCount ? found.PaddedOffsets : default;
        return all.Length >= found.Count + OffsetKernels.Few ? all : default;
    }

    /// <summary>Offers hits that are known: those that promise most, and the others as far as they can still be among the best.</summary>
    private void Offer<TBest>(in Lists run, scoped ref TBest best)
        where TBest : IBestHits, allows ref struct
    {
        Span<float> bounds = most.AsSpan(0, known);
        Span<int> first = stackalloc int[BoundKernels.Lanes];
        first = first[..BoundKernels.BestOfLanes(bounds, first)];
        known = 0;
        foreach (int hit in first)
            Announce(in run, hit);
        foreach (int hit in first)
        {
            Offer(in run, hit, ref best);
            bounds[hit] = Operator.NoMatch; // it is done
        }

        Span<int> left = reaching.AsSpan(0, BoundKernels.CopyReaching(bounds, Math.Max(0, best.WorstScore), reaching));
        foreach (int hit in left)
            Announce(in run, hit);
        foreach (int hit in left)
        {
            if (!(bounds[hit] < best.WorstScore))
                Offer(in run, hit, ref best);
        }
    }

    /// <summary>Asks for what a hit is scored by in the lists that are not merged.</summary>
    private void Announce(in Lists run, int hit)
    {
        for (int i = run.Merged; i < run.Order.Length; i++)
        {
            UnrolledList list = run.Asked(i);
            list.AnnounceFrequencies(list.PlaceOf((long)(ids[hit] >> PostingWindow.SizeBits)));
        }
    }

    /// <summary>Scores a hit: parts are added up in the order of the query.</summary>
    private void Offer<TBest>(in Lists run, int hit, scoped ref TBest best)
        where TBest : IBestHits, allows ref struct
    {
        Span<float> each = stackalloc float[run.Order.Length];
        long id = (long)ids[hit];
        LengthFactors? lengths = run[0].Scorer?.Factors;
        for (int i = 0; i < each.Length; i++)
        {
            ref readonly ProbedList list = ref run[i];
            each[run.Order[i]] = i < run.Merged ? parts[(i * Room) + hit]
                : list.Scorer is not { } scorer ? list.Boost
                : run.Asked(i).PartOf(run.Asked(i).PlaceOf(id >> PostingWindow.SizeBits), (ushort)(id & (PostingWindow.Size - 1)), scorer, scorer.Factors == lengths ? ofLengths[hit] : scorer.Factors.Of(id), list.Boost);
        }

        float sum = 0;
        foreach (float part in each)
            sum += part;
        best.Offer(id, sum);
    }

    /// <summary>A window that the merged lists have: <see cref="Count"/> of its entries are left.</summary>
    private struct Met
    {
        public long Window;
        public int Start;
        public int Count;

        /// <summary>Of the field of the rarest list, where that is scored.</summary>
        public HeldLengths Lengths;
    }

    /// <summary>The lists, by the order in which they are looked at.</summary>
    private readonly ref struct Lists(ReadOnlySpan<ProbedList> lists, ReadOnlySpan<int> order, int merged)
    {
        private readonly ReadOnlySpan<ProbedList> lists = lists;

        public readonly ReadOnlySpan<int> Order = order;

        /// <summary>How many are merged; they come first.</summary>
        public readonly int Merged = merged;

        public ref readonly ProbedList this[int place] => ref lists[Order[place]];

        /// <summary>The windows of one that is not merged.</summary>
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        public UnrolledList Asked(int place) => this[place].Asked!; // it is not
    }
}
