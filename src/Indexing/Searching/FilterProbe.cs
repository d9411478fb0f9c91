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

    private readonly QueryContext _context;
    private readonly Operator _root;
    private readonly bool _matchesAll;
    private readonly HitSet? _hits;
    private ulong[]? _words;
    private Dictionary<long, WindowSet>? _kept;
    private ulong[]? _all;
    private readonly LongListOperator? _list;
    private PostingList? _placed;
    private long _probesLeft;

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
        _placed = placed;
        _context = context;
        _root = root;
        _matchesAll = matchesAll;
        _hits = hits;
        if (matchesAll || hits is not null)
            return;

        _list = LongListOperator.Of(root);
        double windows = Math.Min(context.View.WindowCount, root.Estimate),
            cost = _list is null ? root.Cost.Window : CostModel.PlacedWindow;
        _probesLeft = (long)(windows * cost / (root.Cost.Probe * NoOrder));
        if (expectedProbes >= _probesLeft)
            _probesLeft = 0;
    }

    public bool Contains(long id)
    {
        _context.Meter.Count.EntriesScanned++;
        if (_matchesAll)
            return true;
        if (_placed is not null)
            return _placed.Contains(id);
        if (_all is { } found)
            return (found[(int)(id >> 6)] >> (int)(id & 63) & 1) != 0;
        if (_hits is not null)
            return _hits.Contains(id);
        return --_probesLeft >= 0 ? _root.Contains(id) : ContainsKept(id);
    }

    public void And(long window, WindowSet set)
    {
        if (_matchesAll)
            return;
        if (_all is not null)
        {
            And(set, _all.AsSpan((int)window * BitmapKernels.Words, BitmapKernels.Words));
            return;
        }

        if (_hits is null)
        {
            _root.And(window, set);
            return;
        }

        int place = _hits.PlaceOf(window);
        if (place < 0)
        {
            set.SetEmpty();
            return;
        }

        _words ??= _context.RentWords(BitmapKernels.Words);
        _hits.Read(place, _words.AsSpan(0, BitmapKernels.Words));
        And(set, _words.AsSpan(0, BitmapKernels.Words));
    }

    private void And(WindowSet set, ReadOnlySpan<ulong> members)
    {
        WindowSet mine = _context.Rent();
        mine.SetBits(MemoryMarshal.AsBytes(members));
        set.And(mine);
        _context.Return(mine);
    }

    /// <summary>
    /// Whether an entry is among the hits of all windows, or, where those are too many to be kept, among those of its own, which
    /// are.
    /// </summary>
    private bool ContainsKept(long id)
    {
        if (_list is not null)
        {
            _placed = _context.Rent<PostingList>();
            _list.Open(_placed);
            _placed.Unroll();
            return _placed.Contains(id);
        }

        if (_context.View.WindowCount <= HitSet.MaxKeptWindows)
        {
            _all = FindAll();
            return (_all[(int)(id >> 6)] >> (int)(id & 63) & 1) != 0;
        }

        long window = id >> PostingWindow.SizeBits;
        _kept ??= [];
        if (!_kept.TryGetValue(window, out WindowSet? set))
        {
            _context.Check();
            set = new WindowSet();
            _root.Fill(window, set);
            _kept.Add(window, set);
        }

        return set.Contains((int)(id & (PostingWindow.Size - 1)));
    }

    private ulong[] FindAll()
    {
        int length = (int)_context.View.WindowCount * BitmapKernels.Words;
        ulong[] found = _context.RentWords(length);
        WindowSet set = _context.Rent();
        long cleared = 0;
        for (long window = _root.Next(0); window != Operator.End; window = _root.Next(window + 1))
        {
            _context.Check();
            _root.Fill(window, set);
            found.AsSpan((int)cleared * BitmapKernels.Words, (int)(window - cleared) * BitmapKernels.Words).Clear();
            set.CopyWords(found.AsSpan((int)window * BitmapKernels.Words, BitmapKernels.Words));
            cleared = window + 1;
        }

        found.AsSpan((int)cleared * BitmapKernels.Words, length - ((int)cleared * BitmapKernels.Words)).Clear();
        _context.Return(set);
        return found;
    }
}
