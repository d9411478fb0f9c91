using System.Runtime.InteropServices;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Sorting;
using Treepie.Indexing.TopK;
using Treepie.Storage;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Runs one prepared query as the <see cref="SearchPlanner"/> chose: count, first by id, first in an order by walking its
/// dictionary or reading sort values, or best first by bounds. Checks cancellation and budget at every window. All plans
/// give the same result.
/// </summary>
internal sealed class SearchRun
{
    private readonly QueryContext _context;
    private readonly SearchRequest _request;
    private readonly ReadOnlyMemory<byte> _after;
    private readonly TopKPlan? _topK;
    private readonly QueryCompiler _compiler = null!; // not used by a top-k search or a compound key alone
    private readonly OrderRange? _range;
    private readonly CompoundRange? _compound;
    private readonly long? _rangeTotal;
    private ushort[]? _offsets;
    private readonly WindowSet _set = null!; // as above
    private Operator _root = null!; // as above
    private ComparedList? _listInRange;
    private bool _isWithoutRange;
    private readonly bool _isCompoundAlone;
    private KeyPart[] _parts = [];

    /// <param name="context">The query.</param>
    /// <param name="request">The request.</param>
    /// <param name="after">Sort key of the hit to continue after; empty to begin with the first.</param>
    public SearchRun(QueryContext context, SearchRequest request, ReadOnlyMemory<byte> after = default)
    {
        _context = context;
        _after = after;
        IndexQuery merged = ClauseMerger.Merge(context, request.Query, SortPlan.NeedsScores(request.Sort));
        if (merged != (object)request.Query)
            request = request with { Query = merged };
        _request = request;
        _topK = TopKPlan.TryFrom(context, request);
        if (_topK is not null)
            return;
        _range = OrderRange.Find(context, request);
        bool isByTexts = _range is not null && OrderWalk.IsByTextsOfNumbers(context, request.Sort[0]);
        _compound = CompoundRange.Find(context, request, isByTexts ? null : _range);
        if (isByTexts && _compound is not null)
            _range = null; // compound keys hold the texts, and a range of numbers is not contiguous in them
        _isCompoundAlone = _context.Tracer is null
            && _compound is not null
            && SearchPlanner.IsCompoundAlone(_context, request, _compound);
        if (_isCompoundAlone)
            return; // all that has the value are hits, and their number is known

        _set = context.Rent();
        _compiler = new QueryCompiler(context, IsScored);
        if (_range is { IsAll: true } && request.CountsHits)
            _rangeTotal = context.CountOf(_range.Query, _range.Keys, context.View.Field(request.Sort[0].Field))?.Entries;
        _isWithoutRange = _range is not null
            && (!request.CountsHits || _rangeTotal is not null)
            && request.OrderHint != OrderHint.Sort;
        // _isWithoutRange implies a range
        _root = _isWithoutRange
            ? _compiler.CompileWhole(_range!.Rest)
            : _compiler.CompileWhole(request.Query, countsOnly: request.Take == 0, NeedsAll);
    }

    /// <summary>Number of hits before skip and take; a lower bound unless <see cref="IsTotalExact"/>.</summary>
    public long Total { get; private set; }

    /// <summary>Whether all hits were counted.</summary>
    public bool IsTotalExact { get; private set; } = true;

    /// <summary>Entries of the page, in order.</summary>
    public long[] Ids { get; private set; } = [];

    /// <summary>
    /// Keys of the page's entries as far as the search met them, see <see cref="HitKeys.Rent"/>; null if it met none.
    /// </summary>
    public byte[]? Keys { get; private set; }

    /// <summary>Scores of the page; empty if nothing is scored.</summary>
    public float[] Scores { get; private set; } = [];

    /// <summary>
    /// Sort key of the last entry of the page, if the request asks for a position to continue from; null if the page is not
    /// full.
    /// </summary>
    public byte[]? LastKey { get; private set; }

    /// <summary>
    /// The compound key that would make requests of this kind much cheaper if the index had it; null if there is none.
    /// </summary>
    public CompoundKey? MissingCompound { get; private set; }

    /// <summary>The plan that was executed; null if none is requested.</summary>
    public PlanNode? Plan { get; private set; }

    private long Limit => Math.Min(_request.Take, long.MaxValue - _request.Skip) + _request.Skip;

    /// <summary>
    /// Whether every hit is read: to count the hits, or because the choice of a plan depends on their number, unless it is the
    /// number that a range or prefix is known to match.
    /// </summary>
    private bool NeedsAll => _request.Query is not (RangeQuery or PrefixQuery)
        && (_request.CountsHits || _request.Take == 0 || SearchPlanner.NeedsTotal(_request));

    private bool IsScored => SortPlan.NeedsScores(_request.Sort);

    public void Execute()
    {
        if (_topK is not null)
        {
            RunTopK(_topK);
            return;
        }

        if (_isCompoundAlone)
        {
            if (_request.Sort.Count > 1)
                _parts = SortPlan.Open(_context, _request.Sort); // refuses an order that is not possible, whatever is found
            Total = _compound!.Entries; // not null, as it is walked alone
            WalkCompound(hits: null);
            Finish();
            return;
        }

        _parts = _request.Take == 0 ? [] : SortPlan.Open(_context, _request.Sort);
        (HitSet? hits, SearchPlanner planner, SearchWay way) = Choose();
        if (_isWithoutRange && way != SearchWay.Walk)
        {
            // So few entries match the other conditions that reading their values is cheaper than a walk.
            _isWithoutRange = false;
            _root = _compiler.CompileWhole(_request.Query, needsAll: NeedsAll);
            (hits, planner, way) = Choose();
        }

        MissingCompound = planner.Missing(way, Total);
        Plan = _context.Tracer is null ? null : planner.Describe(way, Total);
        if (Plan is not null)
            _context.Tracer?.Enter(Plan);
        Run(way, hits);
        Finish();
    }

    /// <summary>Completes the plan and position after the page has been found.</summary>
    private void Finish()
    {
        if (_request.WithPosition && Ids.Length > 0 && Ids.Length == _request.Take)
            LastKey = KeyOf(Ids.Length - 1);
        _context.Check(); // a short run ends before the budget is checked
        if (Plan is null)
            return;

        _context.Tracer?.Leave(Plan);
        (Plan.RowsIn, Plan.RowsOut) = (Total, Ids.Length);
    }

    private (HitSet? Hits, SearchPlanner Planner, SearchWay Way) Choose()
    {
        HitSet? hits = null;
        _listInRange = FindListInRange();
        var planner = new SearchPlanner(_context, _root, _request, _parts, _range, _isWithoutRange, _compound)
        {
            IsCountedApart = _listInRange is not null
        };
        if (SearchPlanner.NeedsTotal(_request))
        {
            hits = _root.IsExact || _listInRange is not null ? null : Counted();
            Total = hits?.Total
                ?? (_listInRange is null ? _rangeTotal ?? _root.Estimate : CountApart(_listInRange));
        }

        SearchWay way = planner.Choose(Total);
        return (hits, planner, way);
    }

    /// <summary>
    /// Returns a query whose hits are counted without being kept, if so many are expected that a walk along the range will
    /// be chosen.
    /// </summary>
    private ComparedList? FindListInRange()
    {
        if (_isWithoutRange
            || _range is null
            || ComparedList.Of(_root) is not { } found
            || found.Range.Name.Field != _range.Query.Field)
            return null;
        var planner = new SearchPlanner(_context, _root, _request, _parts, _range, _isWithoutRange, _compound)
        {
            IsCountedApart = true
        };
        return planner.Choose(found.Likely(_context.View.State.EntryCount)) == SearchWay.Walk ? found : null;
    }

    private long CountApart(ComparedList found)
    {
        _context.Tracer?.Enter(null, "counting");
        long total = found.Count(_context);
        _context.Tracer?.Leave(new PlanNode("counting"));
        return total;
    }

    /// <summary>
    /// Finds the hits before a plan is chosen, since the choice depends on their number. Not a separate step of the plan.
    /// </summary>
    private HitSet Counted()
    {
        _context.Tracer?.Enter(null, "counting");
        var hits = HitSet.Find(_context, _root);
        _context.Tracer?.Leave(new PlanNode("counting"));
        return hits;
    }

    private void Run(SearchWay way, HitSet? hits)
    {
        switch (way)
        {
            case SearchWay.Count:
                CountAll(from: 0);
                break;
            case SearchWay.InIdOrder:
                CollectInIdOrder();
                break;
            case SearchWay.ByBounds:
                var sorter = new HitSorter(_parts, Limit, _context.Rent<SortRoom>(), _after);
                var ranking = new BoundedRanking(_context, _root, sorter);
                Total = ranking.Run(_request.CountsHits);
                IsTotalExact = ranking.IsTotalExact;
                if (Plan is not null)
                    (Plan.Windows, Plan.WindowsBelowBound) = (ranking.WindowsScored, ranking.WindowsBelowBound);
                TakePage(sorter.Finish());
                break;
            case SearchWay.Nearest:
                var probe = new FilterProbe(
                    _context, _root, _request.Query is MatchAllQuery, hits is { IsWhole: true } ? hits : null);
                List<long> near = new DistanceWalk(_context, probe, _request.Sort[0], _parts, Math.Min(Limit, Total)).Run();
                Ids = _request.Skip >= near.Count ? [] : [.. near[(int)_request.Skip..]];
                break;
            case SearchWay.Walk:
                Walk(hits);
                break;
            case SearchWay.Compound:
                WalkCompound(hits);
                break;
            default:
                CollectByColumn(hits);
                break;
        }
    }

    private void RunTopK(TopKPlan plan)
    {
        Plan = _context.Tracer is null ? null : plan.Describe(SearchPlanner.LabelOf(_request));
        if (Plan is not null)
            _context.Tracer?.Enter(Plan);
        BlockMaxSearch? search = null;
        if (!TryDictionary(plan))
        {
            _parts = SortPlan.Open(_context, _request.Sort);
            var sorter = new HitSorter(_parts, Limit, _context.Rent<SortRoom>(), _after);
            search = new BlockMaxSearch(_context, plan, sorter);
            Total = search.Run(_request.CountsHits, out bool isExact);
            IsTotalExact = isExact;
            TakePage(sorter.Finish());
            if (Plan is not null)
                (Plan.Windows, Plan.WindowsBelowBound) = (search.WindowsScored, search.WindowsBelowBound);
        }

        Finish();
        Plan?.With(search?.Decision ?? BlockMaxSearch.FromDictionary);
    }

    /// <summary>Answers the query from the dictionary alone if possible.</summary>
    private bool TryDictionary(TopKPlan plan)
    {
        if (Limit > ListHead.MaxEntries || !_after.IsEmpty)
            return false;
        Span<long> ids = stackalloc long[ListHead.MaxEntries];
        Span<float> scores = stackalloc float[ListHead.MaxEntries];
        if (!BlockMaxSearch.TryDictionary(_context, plan, (int)Limit, ids, scores, out int found))
            return false;
        int skipped = (int)Math.Min(_request.Skip, found);
        (Ids, Scores) = (ids[skipped..found].ToArray(), scores[skipped..found].ToArray());
        Total = plan.IsEmpty ? 0 : plan.Terms[0].Entries;
        return true;
    }

    private void Walk(HitSet? hits)
    {
        bool matchesAll = _request.Query is MatchAllQuery || _range is { IsAll: true };
        long wanted = Math.Min(Limit, Total);
        double expectedProbes = wanted * OrderRange.EntriesMet(_context, _range, _isWithoutRange) / Math.Max(1, Total);
        var filter = new FilterProbe(
            _context, _listInRange?.List ?? _root, matchesAll, hits is { IsWhole: true } ? hits : null, expectedProbes,
            _listInRange?.Windows);
        if (_listInRange is not null)
            Plan?.With(ComparedList.Counting);
        OrderWalk walk = OrderWalk.Open(
            _context, filter, _request.Sort, _parts, wanted, _after, _range?.Keys,
            _request.Query is MatchAllQuery ? _request.Skip : 0,
            density: matchesAll ? 1 : Math.Min(1, wanted / Math.Max(1, expectedProbes)));
        List<long> found = walk.Run();
        if (walk.Decision is { } decision)
            Plan?.With(decision);
        long skipped = _request.Skip - walk.Passed;
        Ids = skipped >= found.Count ? [] : CollectionsMarshal.AsSpan(found)[(int)skipped..].ToArray();
        if (!_isWithoutRange)
            return;

        // If the walk reached its end, these are all hits, except those of earlier pages.
        IsTotalExact = _rangeTotal is not null || (found.Count < Limit && _after.IsEmpty);
        Total = _rangeTotal ?? found.Count;
    }

    private void WalkCompound(HitSet? hits)
    {
        CompoundRange along = _compound!; // not null if this plan was chosen
        long wanted = Math.Min(Limit, Total);
        FilterProbe? filter = along.IsAll
            ? null
            : new FilterProbe(
                _context, _root, matchesAll: false, hits is { IsWhole: true } ? hits : null,
                wanted * along.Entries / (double)Math.Max(1, Total));
        Cursor cursor = _context.View.OpenCompound(along.Number)
            ?? throw new CorruptionException(
                $"The index tree '{TreeNames.Compound(along.Number)}' is missing. Reset the index to build it again.");
        CompoundWalk walk = _context.Rent<CompoundWalk>();
        List<long> found = walk.Run(_context, cursor, along, _request, filter, wanted, _after);
        if (_request.Skip >= found.Count)
            return;
        Ids = CollectionsMarshal.AsSpan(found)[(int)_request.Skip..].ToArray();
        Keys = walk.Keys.Rent((int)_request.Skip);
    }

    private void CountAll(long from)
    {
        if (_root.IsExact)
        {
            Total = _root.Estimate;
            return;
        }

        for (long window = _root.Next(from); window != Operator.End; window = _root.Next(window + 1))
        {
            _context.Check();
            _root.Fill(window, _set);
            Total += _set.Count;
            Visit();
        }
    }

    private void CollectInIdOrder()
    {
        // The sort key is the id alone. Hits up to the one to continue after are counted but not returned.
        long first = _after.IsEmpty ? 0 : Catalogue.EntryKey.Read(_after.Span) + 1;
        long skipped = 0;
        List<long> ids = _context.Rent<IdList>().Ids;
        for (long window = _root.Next(0); window != Operator.End; window = _root.Next(window + 1))
        {
            _context.Check();
            _root.Fill(window, _set);
            Visit();
            int count = _set.Count;
            Total += count;
            long start = window << PostingWindow.SizeBits;
            if (start + PostingWindow.Size <= first || (skipped + count <= _request.Skip && start >= first))
            {
                skipped += start >= first ? count : 0;
                continue;
            }

            _offsets ??= _context.RentOffsets();
            _set.CopyTo(_offsets);
            for (int i = 0; i < count && ids.Count < _request.Take; i++)
            {
                if (start + _offsets[i] >= first && ++skipped > _request.Skip)
                    ids.Add(start + _offsets[i]);
            }

            if (ids.Count == _request.Take)
            {
                if (_request.CountsHits || _root.IsExact)
                    CountAll(window + 1);
                else
                    IsTotalExact = _root.Next(window + 1) == Operator.End;
                break;
            }
        }

        Ids = [.. ids];
    }

    private void CollectByColumn(HitSet? hits)
    {
        var sorter = new HitSorter(_parts, Limit, _context.Rent<SortRoom>(), _after);
        if (hits is null)
            CollectFromRoot(sorter);
        else
            CollectFrom(hits, sorter);
        TakePage(sorter.Finish());
    }

    private void CollectFrom(HitSet hits, HitSorter sorter)
    {
        _offsets ??= _context.RentOffsets();
        Span<ulong> words = stackalloc ulong[BitmapKernels.Words];
        for (int place = 0; place < hits.Windows.Count; place++)
        {
            _context.Check();
            hits.Read(place, words);
            int count = BitmapKernels.Decode(words, _offsets);
            _context.Meter.Count.EntriesScanned += count;
            long start = hits.Windows[place] << PostingWindow.SizeBits;
            for (int i = 0; i < count; i++)
                sorter.Add(start + _offsets[i], 0);
            Visit();
        }
    }

    private void CollectFromRoot(HitSorter sorter)
    {
        long total = 0;
        bool isScored = IsScored;
        bool bestFirst = _request.Sort[0] is { Kind: SortKind.Score, Descending: true };
        _offsets ??= _context.RentOffsets();
        float[] scores = isScored ? _context.RentNumbers(PostingWindow.Size) : [0];
        for (long window = _root.Next(0); window != Operator.End; window = _root.Next(window + 1))
        {
            _context.Check();
            _root.Fill(window, _set);
            int count = _set.CopyTo(_offsets);
            total += count;
            Visit();
            _context.Meter.Count.EntriesScanned += count;
            if (isScored && count > 0)
            {
                scores.AsSpan(0, count).Clear();
                _root.Score(window, _offsets.AsSpan(0, count), scores.AsSpan(0, count), 1, allMatch: true);
                _context.Meter.Count.CandidatesScored += count;
            }

            long start = window << PostingWindow.SizeBits;
            for (int i = 0; i < count; i++)
            {
                // Most hits of a scored query are rejected here with one comparison.
                if (bestFirst && scores[i] < sorter.WorstScore)
                    continue;
                sorter.Add(start + _offsets[i], isScored ? scores[i] : 0);
            }
        }

        Total = total;
    }

    private void TakePage(ReadOnlySpan<SortedHit> hits)
    {
        bool isScored = IsScored;
        ReadOnlySpan<SortedHit> page = _request.Skip >= hits.Length ? default : hits[(int)_request.Skip..];
        Ids = new long[page.Length];
        Scores = new float[isScored ? page.Length : 0];
        for (int i = 0; i < page.Length; i++)
        {
            Ids[i] = page[i].Id;
            if (isScored)
                Scores[i] = page[i].Score;
        }
    }

    /// <summary>Returns the sort key of an entry of the page.</summary>
    public byte[] KeyOf(int place)
    {
        if (_parts.Length == 0)
            _parts = SortPlan.Open(_context, _request.Sort); // not opened for answers from the dictionary
        var key = new KeyBuffer();
        foreach (KeyPart part in _parts)
            part.Append(Ids[place], Scores.Length > 0 ? Scores[place] : 0, key);
        key.Append((ulong)Ids[place]);
        return key.Written.ToArray();
    }

    private void Visit()
    {
        if (Plan is not null)
            Plan.Windows++;
    }
}
