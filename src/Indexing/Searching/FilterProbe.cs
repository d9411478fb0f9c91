using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Decides for single entries, in any order, whether they match a query. Uses the hits if they were already found. Otherwise
/// probes the operators until that has cost as much as finding the hits of all windows; then does this once, and further
/// answers are bits of a bitmap. The cost is thus at most twice that of the cheaper method. Memory: 512 bytes per window.
/// </summary>
internal sealed class FilterProbe
{
    /// <summary>
    /// How much more a probe in random order costs than the operators' estimate, which is for ascending order: each probe
    /// has to locate its window again.
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
    /// <param name="root">The compiled query.</param>
    /// <param name="matchesAll">Whether everything matches.</param>
    /// <param name="hits">The hits, if already found.</param>
    /// <param name="expectedProbes">Expected number of probes, if known; if it is large enough, the hits are found at
    /// once.</param>
    /// <param name="placed">All windows of the list to probe, if already located.</param>
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

        _list = TermOperator.Of(root) as LongListOperator;
        double windows = Math.Min(context.View.WindowCount, root.Estimate),
            cost = _list is null ? root.Cost.Window : CostModel.PlacedWindow;
        _probesLeft = (long)(windows * cost / (root.Cost.Probe * NoOrder));
        if (expectedProbes >= _probesLeft)
            _probesLeft = 0;
    }

    /// <summary>A further filter, which entries must match too; null if there is none.</summary>
    public FilterProbe? Beside { get; init; }

    public bool Contains(long id) => ContainsOwn(id) && (Beside is null || Beside.Contains(id));

    public void And(long window, WindowSet set)
    {
        AndOwn(window, set);
        if (Beside is not null && !set.IsEmpty)
            Beside.And(window, set);
    }

    private bool ContainsOwn(long id)
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

    private void AndOwn(long window, WindowSet set)
    {
        if (_matchesAll)
            return;
        if (_all is not null)
        {
            set.Combine(SetOperation.And, _all.AsSpan((int)window * BitmapKernels.Words, BitmapKernels.Words));
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
        set.Combine(SetOperation.And, _words.AsSpan(0, BitmapKernels.Words));
    }

    /// <summary>
    /// Whether an entry is among the hits, after finding those of all windows, or only those of the entry's window if there
    /// are too many windows to keep.
    /// </summary>
    private bool ContainsKept(long id)
    {
        Debug.Assert(!_matchesAll && _hits is null && _probesLeft < 0, "single probes are used up before all hits are kept");
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
        Debug.Assert(_all is null, "all hits are found once");
        int length = (int)_context.View.WindowCount * BitmapKernels.Words;
        ulong[] found = _context.RentWords(length);
        WindowSet set = _context.Rent();
        long cleared = 0;
        for (long window = _root.Next(0); window != Operator.End; window = _root.Next(window + 1))
        {
            _context.Check();
            _root.Fill(window, set);
            Debug.Assert(window >= cleared, "windows ascend");
            found.AsSpan((int)cleared * BitmapKernels.Words, (int)(window - cleared) * BitmapKernels.Words).Clear();
            set.CopyWords(found.AsSpan((int)window * BitmapKernels.Words, BitmapKernels.Words));
            cleared = window + 1;
        }

        found.AsSpan((int)cleared * BitmapKernels.Words, length - ((int)cleared * BitmapKernels.Words)).Clear();
        _context.Return(set);
        return found;
    }
}
