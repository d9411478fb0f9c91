using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Answers for single entries, in any order, whether a query matches them. Where the hits were found already it looks there. Else
/// it asks the operators, until what that has cost is what finding the hits of all windows would: then it does that, once, and an
/// answer is a bit of a bitmap. So it never costs more than twice the cheaper of both ways. Memory: 512 bytes a window.
/// </summary>
internal sealed class FilterProbe
{
    /// <summary>
    /// How much dearer an entry is that is asked for in no order than what operators say of one in ascending order: the way to
    /// its window begins anew.
    /// </summary>
    private const double NoOrder = 3.6;

    private readonly QueryContext context;
    private readonly Operator root;
    private readonly bool matchesAll;
    private readonly HitSet? hits;
    private ulong[]? words;
    private Dictionary<long, WindowSet>? kept;
    private ulong[]? all;
    private readonly LongListOperator? list;
    private PostingList? placed;
    private long probesLeft;

    /// <param name="context">The query.</param>
    /// <param name="root">What is asked.</param>
    /// <param name="matchesAll">Whether everything matches.</param>
    /// <param name="hits">The hits, where they were found already.</param>
    /// <param name="expectedProbes">How many entries will be asked about, as far as that is known: where they are enough, the
    /// hits are found at once.</param>
    /// <param name="placed">All windows of the list that is asked, where they are known.</param>
    public FilterProbe(
        QueryContext context, Operator root, bool matchesAll, HitSet? hits = null, double expectedProbes = 0,
        PostingList? placed = null)
    {
        this.placed = placed;
        this.context = context;
        this.root = root;
        this.matchesAll = matchesAll;
        this.hits = hits;
        if (matchesAll || hits is not null)
            return;

        list = LongListOperator.Of(root);
        double windows = Math.Min(context.View.WindowCount, root.Estimate),
            cost = list is null ? root.Cost.Window : CostModel.PlacedWindow;
        probesLeft = (long)(windows * cost / (root.Cost.Probe * NoOrder));
        if (expectedProbes >= probesLeft)
            probesLeft = 0;
    }

    public bool Contains(long id)
    {
        context.Meter.Count.EntriesScanned++;
        if (matchesAll)
            return true;
        if (placed is not null)
            return placed.Contains(id);
        if (all is { } found)
            return (found[(int)(id >> 6)] >> (int)(id & 63) & 1) != 0;
        if (hits is not null)
            return hits.Contains(id);
        return --probesLeft >= 0 ? root.Contains(id) : ContainsKept(id);
    }

    public void And(long window, WindowSet set)
    {
        if (matchesAll)
            return;
        if (all is not null)
        {
            And(set, all.AsSpan((int)window * BitmapKernels.Words, BitmapKernels.Words));
            return;
        }

        if (hits is null)
        {
            root.And(window, set);
            return;
        }

        int place = hits.PlaceOf(window);
        if (place < 0)
        {
            set.SetEmpty();
            return;
        }

        words ??= context.RentWords(BitmapKernels.Words);
        hits.Read(place, words.AsSpan(0, BitmapKernels.Words));
        And(set, words.AsSpan(0, BitmapKernels.Words));
    }

    private void And(WindowSet set, ReadOnlySpan<ulong> members)
    {
        WindowSet mine = context.Rent();
        mine.SetBits(MemoryMarshal.AsBytes(members));
        set.And(mine);
        context.Return(mine);
    }

    /// <summary>
    /// Whether an entry is among the hits of all windows, or, where those are too many to be kept, among those of its own, which
    /// are.
    /// </summary>
    private bool ContainsKept(long id)
    {
        if (list is not null)
        {
            placed = context.Rent<PostingList>();
            list.Open(placed);
            placed.Unroll();
            return placed.Contains(id);
        }

        if (context.View.WindowCount <= HitSet.MaxKeptWindows)
        {
            all = FindAll();
            return (all[(int)(id >> 6)] >> (int)(id & 63) & 1) != 0;
        }

        long window = id >> PostingWindow.SizeBits;
        kept ??= [];
        if (!kept.TryGetValue(window, out WindowSet? set))
        {
            context.Check();
            set = new WindowSet();
            root.Fill(window, set);
            kept.Add(window, set);
        }

        return set.Contains((int)(id & (PostingWindow.Size - 1)));
    }

    private ulong[] FindAll()
    {
        int length = (int)context.View.WindowCount * BitmapKernels.Words;
        ulong[] found = context.RentWords(length);
        WindowSet set = context.Rent();
        long cleared = 0;
        for (long window = root.Next(0); window != Operator.End; window = root.Next(window + 1))
        {
            context.Check();
            root.Fill(window, set);
            found.AsSpan((int)cleared * BitmapKernels.Words, (int)(window - cleared) * BitmapKernels.Words).Clear();
            set.CopyWords(found.AsSpan((int)window * BitmapKernels.Words, BitmapKernels.Words));
            cleared = window + 1;
        }

        found.AsSpan((int)cleared * BitmapKernels.Words, length - ((int)cleared * BitmapKernels.Words)).Clear();
        context.Return(set);
        return found;
    }
}
