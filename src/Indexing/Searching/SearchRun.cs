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
/// Runs one prepared query in the way that the <see cref="SearchPlanner"/> chose: count, first in id order, first in an order by
/// walking its dictionary, by reading sort values, or best first by bounds. Cancellation and budget are checked at every window.
/// All ways give the same answer.
/// </summary>
internal sealed class SearchRun
{
    private readonly QueryContext _context;
    private readonly SearchRequest _request;
    private readonly ReadOnlyMemory<byte> _after;
    private readonly TopKPlan? _topK;
    private readonly QueryCompiler _compiler = null!; // unless the search is a top-k one
    private readonly OrderRange? _range;
    private readonly CompoundRange? _compound;
    private readonly long? _rangeTotal;
    private ushort[]? _offsets;
    private readonly WindowSet _set = null!; // as above
    private Operator _root = null!; // as above
    private ComparedList? _listInRange;
    private bool _isWithoutRange;
    private KeyPart[] _parts = [];

    /// <param name="context">The query.</param>
    /// <param name="request">What is wanted.</param>
    /// <param name="after">The sort key of the hit to go on from; empty: from the first.</param>
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
        _set = context.Rent();
        _compiler = new QueryCompiler(context, IsScored);
        _range = OrderRange.Find(context, request);
        bool isByTexts = _range is not null && OrderWalk.IsByTextsOfNumbers(context, request.Sort[0]);
        _compound = CompoundRange.Find(context, request, isByTexts ? null : _range);
        if (isByTexts && _compound is not null)
            _range = null; // compound keys have the texts, and no part of them is a range of numbers
        if (_range is { IsAll: true } && request.CountsHits)
            _rangeTotal = context.CountOf(_range.Query, _range.Keys, context.View.Field(request.Sort[0].Field))?.Entries;
        _isWithoutRange = _range is not null
            && (!request.CountsHits || _rangeTotal is not null)
            && request.OrderHint != OrderHint.Sort;
        // there is one
        _root = _isWithoutRange
            ? _compiler.CompileWhole(_range!.Rest)
            : _compiler.CompileWhole(request.Query, countsOnly: request.Take == 0);
    }

    /// <summary>All hits, before skip and take; at least so many where <see cref="IsTotalExact"/> is false.</summary>
    public long Total { get; private set; }

    /// <summary>Whether all hits were counted.</summary>
    public bool IsTotalExact { get; private set; } = true;

    /// <summary>Entries of the page, in order.</summary>
    public long[] Ids { get; private set; } = [];

    /// <summary>Their scores; empty if nothing is scored.</summary>
    public float[] Scores { get; private set; } = [];

    /// <summary>
    /// The sort key of the last entry of the page, where the request wants to go on from there; null where the page is not full.
    /// </summary>
    public byte[]? LastKey { get; private set; }

    /// <summary>The compound key that the index lacks for requests of this kind to be much cheaper; null: none.</summary>
    public CompoundKey? MissingCompound { get; private set; }

    /// <summary>What was done; null where nobody wants a plan.</summary>
    public PlanNode? Plan { get; private set; }

    private long Limit => Math.Min(_request.Take, long.MaxValue - _request.Skip) + _request.Skip;

    private bool IsScored => SortPlan.NeedsScores(_request.Sort);

    public void Execute()
    {
        if (_topK is not null)
        {
            RunTopK(_topK);
            return;
        }

        _parts = _request.Take == 0 ? [] : SortPlan.Open(_context, _request.Sort);
        (HitSet? hits, SearchPlanner planner, SearchWay way) = Choose();
        if (_isWithoutRange && way != SearchWay.Walk)
        {
            // So few entries match the rest that looking at their values is cheaper than meeting them on the way.
            _isWithoutRange = false;
            _root = _compiler.CompileWhole(_request.Query);
            (hits, planner, way) = Choose();
        }

        MissingCompound = planner.Missing(way, Total);
        Plan = _context.Tracer is null ? null : planner.Describe(way, Total);
        if (Plan is not null)
            _context.Tracer?.Enter(Plan);
        Run(way, hits);
        Finish();
    }

    /// <summary>What is left when the page is there.</summary>
    private void Finish()
    {
        if (_request.WithPosition && Ids.Length > 0 && Ids.Length == _request.Take)
            LastKey = KeyOf(Ids.Length - 1);
        _context.Check(); // a short run ends before it looks at the budget
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
        if (planner.NeedsTotal)
        {
            hits = _root.IsExact || _listInRange is not null ? null : Counted();
            Total = hits?.Total ?? (_listInRange is null ? _root.Estimate : CountApart(_listInRange));
        }

        SearchWay way = planner.Choose(Total);
        return (hits, planner, way);
    }

    /// <summary>
    /// Hits that are counted without being kept: where so many are likely that they are met by a walk along the range.
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
    /// The hits, found before the way is chosen, as the choice is made by their number. It is no step of its own in the plan.
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

    /// <summary>Answers from the dictionary, where that is enough.</summary>
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
            _context, filter, _request.Sort[0], _parts, wanted, _after, _range?.Keys,
            _request.Query is MatchAllQuery ? _request.Skip : 0);
        List<long> found = walk.Run();
        long skipped = _request.Skip - walk.Passed;
        Ids = skipped >= found.Count ? [] : CollectionsMarshal.AsSpan(found)[(int)skipped..].ToArray();
        if (!_isWithoutRange)
            return;

        // Where the walk came to its end these are all hits, unless some were given before.
        IsTotalExact = _rangeTotal is not null || (found.Count < Limit && _after.IsEmpty);
        Total = _rangeTotal ?? found.Count;
    }

    private void WalkCompound(HitSet? hits)
    {
        CompoundRange along = _compound!; // it was chosen
        long wanted = Math.Min(Limit, Total);
        double expectedProbes = along.IsAll ? 0 : wanted * along.Entries / (double)Math.Max(1, Total);
        var filter = new FilterProbe(_context, _root, along.IsAll, hits is { IsWhole: true } ? hits : null, expectedProbes);
        Tree tree = _context.View.Tree(TreeNames.Compound(along.Number))
            ?? throw new CorruptionException(
                $"The index tree '{TreeNames.Compound(along.Number)}' is missing. Reset the index to build it again.");
        List<long> found = new CompoundWalk(_context, tree, along, _request.Sort[0], filter, _parts, wanted, _after).Run();
        Ids = _request.Skip >= found.Count ? [] : CollectionsMarshal.AsSpan(found)[(int)_request.Skip..].ToArray();
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
        // The key of this order is the id alone: hits up to the one to go on from are counted and left out.
        long first = _after.IsEmpty ? 0 : Catalogue.EntryKey.Read(_after.Span) + 1;
        long skipped = 0;
        var ids = new List<long>((int)Math.Min(Math.Clamp(_root.Estimate, 0, 1024), _request.Take));
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
                CountAll(window + 1);
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
                _root.ScoreMatches(window, _offsets.AsSpan(0, count), scores.AsSpan(0, count), 1);
                _context.Meter.Count.CandidatesScored += count;
            }

            long start = window << PostingWindow.SizeBits;
            for (int i = 0; i < count; i++)
            {
                // Most hits of a scored query end here, with one comparison.
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

    /// <summary>The sort key of an entry of the page.</summary>
    public byte[] KeyOf(int place)
    {
        if (_parts.Length == 0)
            _parts = SortPlan.Open(_context, _request.Sort); // what is answered from the dictionary needs no keys
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
