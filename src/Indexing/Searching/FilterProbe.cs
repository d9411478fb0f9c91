using System.Runtime.InteropServices;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Answers for single entries, in any order, whether a query matches them. Where the hits were found already it looks there; else, after some probes, it
/// keeps the matches of each window it was asked about, so that a long walk never asks the operators twice for one window: 512 bytes a window.
/// </summary>
/// <param name="context">The query.</param>
/// <param name="root">What is asked.</param>
/// <param name="matchesAll">Whether everything matches.</param>
/// <param name="hits">The hits, where they were found already.</param>
internal sealed class FilterProbe(QueryContext context, Operator root, bool matchesAll, HitSet? hits = null)
{
    private const int ProbesBeforeKeeping = 64;

    private readonly Dictionary<long, WindowSet> kept = [];
    private readonly ulong[] words = new ulong[BitmapKernels.Words];
    private int probes;

    public bool Contains(long id)
    {
        context.Meter.Count.EntriesScanned++;
        if (matchesAll)
            return true;
        if (hits is not null)
            return hits.Contains(id);
        if (++probes <= ProbesBeforeKeeping)
            return root.Contains(id);

        long window = id >> PostingWindow.SizeBits;
        if (!kept.TryGetValue(window, out WindowSet? set))
        {
            context.Check();
            set = new WindowSet();
            root.Fill(window, set);
            kept.Add(window, set);
        }

        return set.Contains((int)(id & (PostingWindow.Size - 1)));
    }

    public void And(long window, WindowSet set)
    {
        if (matchesAll)
            return;
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

        hits.Read(place, words);
        WindowSet mine = context.Rent();
        mine.SetBits(MemoryMarshal.AsBytes<ulong>(words));
        set.And(mine);
        context.Return(mine);
    }
}
