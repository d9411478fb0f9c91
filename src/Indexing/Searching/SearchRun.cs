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
    private readonly QueryContext context;
    private readonly SearchRequest request;
    private readonly ReadOnlyMemory<byte> after;
    private readonly TopKPlan? topK;
    private readonly QueryCompiler compiler = null!; // unless the search is a top-k one
    private readonly OrderRange? range;
    private readonly CompoundRange? compound;
    private readonly long? rangeTotal;
    private ushort[]? offsets;
    private readonly WindowSet set = null!; // as above
    private Operator root = null!; // as above
    private ComparedList? listInRange;
    private bool isWithoutRange;
    private KeyPart[] parts = [];

    /// <param name="context">The query.</param>
    /// <param name="request">What is wanted.</param>
    /// <param name="after">The sort key of the hit to go on from; empty: from the first.</param>
    public SearchRun(QueryContext context, SearchRequest request, ReadOnlyMemory<byte> after = default)
    {
        this.context = context;
        this.after = after;
        IndexQuery merged = ClauseMerger.Merge(context, request.Query, SortPlan.NeedsScores(request.Sort));
        if (merged != (object)request.Query)
            request = request with { Query = merged };
        this.request = request;
        topK = TopKPlan.TryFrom(context, request);
        if (topK is not null)
            return;
        set = context.Rent();
        compiler = new QueryCompiler(context, IsScored);
        range = OrderRange.Find(context, request);
        compound = CompoundRange.Find(context, request, range);
        if (range is { IsAll: true } && request.CountsHits)
            rangeTotal = context.CountOf(range.Query, range.Keys, context.View.Field(request.Sort[0].Field))?.Entries;
        isWithoutRange = range is not null
            && (!request.CountsHits || rangeTotal is not null)
            && request.OrderHint != OrderHint.Sort;
        // there is one
        root = isWithoutRange
            ? compiler.CompileWhole(range!.Rest)
            : compiler.CompileWhole(request.Query, countsOnly: request.Take == 0);
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

    private long Limit => Math.Min(request.Take, long.MaxValue - request.Skip) + request.Skip;

    private bool IsScored => SortPlan.NeedsScores(request.Sort);

    public void Execute()
    {
        if (topK is not null)
        {
            RunTopK(topK);
            return;
        }

        parts = request.Take == 0 ? [] : SortPlan.Open(context, request.Sort);
        (HitSet? hits, SearchPlanner planner, SearchWay way) = Choose();
        if (isWithoutRange && way != SearchWay.Walk)
        {
            // So few entries match the rest that looking at their values is cheaper than meeting them on the way.
            isWithoutRange = false;
            root = compiler.CompileWhole(request.Query);
            (hits, planner, way) = Choose();
        }

        MissingCompound = planner.Missing(way, Total);
        Plan = context.Tracer is null ? null : planner.Describe(way, Total);
        if (Plan is not null)
            context.Tracer?.Enter(Plan);
        Run(way, hits);
        Finish();
    }

    /// <summary>What is left when the page is there.</summary>
    private void Finish()
    {
        if (request.WithPosition && Ids.Length > 0 && Ids.Length == request.Take)
            LastKey = KeyOf(Ids.Length - 1);
        context.Check(); // a short run ends before it looks at the budget
        if (Plan is null)
            return;

        context.Tracer?.Leave(Plan);
        (Plan.RowsIn, Plan.RowsOut) = (Total, Ids.Length);
    }

    private (HitSet? Hits, SearchPlanner Planner, SearchWay Way) Choose()
    {
        HitSet? hits = null;
        listInRange = FindListInRange();
        var planner = new SearchPlanner(context, root, request, parts, range, isWithoutRange, compound)
        {
            IsCountedApart = listInRange is not null
        };
        if (planner.NeedsTotal)
        {
            hits = root.IsExact || listInRange is not null ? null : Counted();
            Total = hits?.Total ?? (listInRange is null ? root.Estimate : CountApart(listInRange));
        }

        SearchWay way = planner.Choose(Total);
        return (hits, planner, way);
    }

    /// <summary>
    /// Hits that are counted without being kept: where so many are likely that they are met by a walk along the range.
    /// </summary>
    private ComparedList? FindListInRange()
    {
        if (isWithoutRange
            || range is null
            || ComparedList.Of(root) is not { } found
            || found.Range.Name.Field != range.Query.Field)
            return null;
        var planner = new SearchPlanner(context, root, request, parts, range, isWithoutRange, compound) { IsCountedApart = true };
        return planner.Choose(found.Likely(context.View.State.EntryCount)) == SearchWay.Walk ? found : null;
    }

    private long CountApart(ComparedList found)
    {
        context.Tracer?.Enter(null, "counting");
        long total = found.Count(context);
        context.Tracer?.Leave(new PlanNode("counting"));
        return total;
    }

    /// <summary>
    /// The hits, found before the way is chosen, as the choice is made by their number. It is no step of its own in the plan.
    /// </summary>
    private HitSet Counted()
    {
        context.Tracer?.Enter(null, "counting");
        var hits = HitSet.Find(context, root);
        context.Tracer?.Leave(new PlanNode("counting"));
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
                var sorter = new HitSorter(parts, Limit, context.Rent<SortRoom>(), after);
                var ranking = new BoundedRanking(context, root, sorter);
                Total = ranking.Run(request.CountsHits);
                IsTotalExact = ranking.IsTotalExact;
                if (Plan is not null)
                    (Plan.Windows, Plan.WindowsBelowBound) = (ranking.WindowsScored, ranking.WindowsBelowBound);
                TakePage(sorter.Finish());
                break;
            case SearchWay.Nearest:
                var probe = new FilterProbe(
                    context, root, request.Query is MatchAllQuery, hits is { IsWhole: true } ? hits : null);
                List<long> near = new DistanceWalk(context, probe, request.Sort[0], parts, Math.Min(Limit, Total)).Run();
                Ids = request.Skip >= near.Count ? [] : [.. near[(int)request.Skip..]];
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
        Plan = context.Tracer is null ? null : plan.Describe(SearchPlanner.LabelOf(request));
        if (Plan is not null)
            context.Tracer?.Enter(Plan);
        BlockMaxSearch? search = null;
        if (!TryDictionary(plan))
        {
            parts = SortPlan.Open(context, request.Sort);
            var sorter = new HitSorter(parts, Limit, context.Rent<SortRoom>(), after);
            search = new BlockMaxSearch(context, plan, sorter);
            Total = search.Run(request.CountsHits, out bool isExact);
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
        if (Limit > ListHead.MaxEntries || !after.IsEmpty)
            return false;
        Span<long> ids = stackalloc long[ListHead.MaxEntries];
        Span<float> scores = stackalloc float[ListHead.MaxEntries];
        if (!BlockMaxSearch.TryDictionary(context, plan, (int)Limit, ids, scores, out int found))
            return false;
        int skipped = (int)Math.Min(request.Skip, found);
        (Ids, Scores) = (ids[skipped..found].ToArray(), scores[skipped..found].ToArray());
        Total = plan.IsEmpty ? 0 : plan.Terms[0].Entries;
        return true;
    }

    private void Walk(HitSet? hits)
    {
        bool matchesAll = request.Query is MatchAllQuery || range is { IsAll: true };
        long wanted = Math.Min(Limit, Total);
        double expectedProbes = wanted * OrderRange.EntriesMet(context, range, isWithoutRange) / Math.Max(1, Total);
        var filter = new FilterProbe(
            context, listInRange?.List ?? root, matchesAll, hits is { IsWhole: true } ? hits : null, expectedProbes,
            listInRange?.Windows);
        if (listInRange is not null)
            Plan?.With(ComparedList.Counting);
        OrderWalk walk = OrderWalk.Open(
            context, filter, request.Sort[0], parts, wanted, after, range?.Keys,
            request.Query is MatchAllQuery ? request.Skip : 0);
        List<long> found = walk.Run();
        long skipped = request.Skip - walk.Passed;
        Ids = skipped >= found.Count ? [] : CollectionsMarshal.AsSpan(found)[(int)skipped..].ToArray();
        if (!isWithoutRange)
            return;

        // Where the walk came to its end these are all hits, unless some were given before.
        IsTotalExact = rangeTotal is not null || (found.Count < Limit && after.IsEmpty);
        Total = rangeTotal ?? found.Count;
    }

    private void WalkCompound(HitSet? hits)
    {
        CompoundRange along = compound!; // it was chosen
        long wanted = Math.Min(Limit, Total);
        double expectedProbes = along.IsAll ? 0 : wanted * along.Entries / (double)Math.Max(1, Total);
        var filter = new FilterProbe(context, root, along.IsAll, hits is { IsWhole: true } ? hits : null, expectedProbes);
        Tree tree = context.View.Tree(TreeNames.Compound(along.Number))
            ?? throw new CorruptionException(
                $"The index tree '{TreeNames.Compound(along.Number)}' is missing. Reset the index to build it again.");
        List<long> found = new CompoundWalk(context, tree, along, request.Sort[0], filter, parts, wanted, after).Run();
        Ids = request.Skip >= found.Count ? [] : CollectionsMarshal.AsSpan(found)[(int)request.Skip..].ToArray();
    }

    private void CountAll(long from)
    {
        if (root.IsExact)
        {
            Total = root.Estimate;
            return;
        }

        for (long window = root.Next(from); window != Operator.End; window = root.Next(window + 1))
        {
            context.Check();
            root.Fill(window, set);
            Total += set.Count;
            Visit();
        }
    }

    private void CollectInIdOrder()
    {
        // The key of this order is the id alone: hits up to the one to go on from are counted and left out.
        long first = after.IsEmpty ? 0 : Catalogue.EntryKey.Read(after.Span) + 1;
        long skipped = 0;
        var ids = new List<long>((int)Math.Min(1024, request.Take));
        for (long window = root.Next(0); window != Operator.End; window = root.Next(window + 1))
        {
            context.Check();
            root.Fill(window, set);
            Visit();
            int count = set.Count;
            Total += count;
            long start = window << PostingWindow.SizeBits;
            if (start + PostingWindow.Size <= first || (skipped + count <= request.Skip && start >= first))
            {
                skipped += start >= first ? count : 0;
                continue;
            }

            offsets ??= context.RentOffsets();
            set.CopyTo(offsets);
            for (int i = 0; i < count && ids.Count < request.Take; i++)
            {
                if (start + offsets[i] >= first && ++skipped > request.Skip)
                    ids.Add(start + offsets[i]);
            }

            if (ids.Count == request.Take)
            {
                CountAll(window + 1);
                break;
            }
        }

        Ids = [.. ids];
    }

    private void CollectByColumn(HitSet? hits)
    {
        var sorter = new HitSorter(parts, Limit, context.Rent<SortRoom>(), after);
        if (hits is null)
            CollectFromRoot(sorter);
        else
            CollectFrom(hits, sorter);
        TakePage(sorter.Finish());
    }

    private void CollectFrom(HitSet hits, HitSorter sorter)
    {
        offsets ??= context.RentOffsets();
        Span<ulong> words = stackalloc ulong[BitmapKernels.Words];
        for (int place = 0; place < hits.Windows.Count; place++)
        {
            context.Check();
            hits.Read(place, words);
            int count = BitmapKernels.Decode(words, offsets);
            context.Meter.Count.EntriesScanned += count;
            long start = hits.Windows[place] << PostingWindow.SizeBits;
            for (int i = 0; i < count; i++)
                sorter.Add(start + offsets[i], 0);
            Visit();
        }
    }

    private void CollectFromRoot(HitSorter sorter)
    {
        long total = 0;
        bool isScored = IsScored;
        bool bestFirst = request.Sort[0] is { Kind: SortKind.Score, Descending: true };
        offsets ??= context.RentOffsets();
        float[] scores = isScored ? context.RentNumbers(PostingWindow.Size) : [0];
        for (long window = root.Next(0); window != Operator.End; window = root.Next(window + 1))
        {
            context.Check();
            root.Fill(window, set);
            int count = set.CopyTo(offsets);
            total += count;
            Visit();
            context.Meter.Count.EntriesScanned += count;
            if (isScored && count > 0)
            {
                scores.AsSpan(0, count).Clear();
                root.ScoreMatches(window, offsets.AsSpan(0, count), scores.AsSpan(0, count), 1);
                context.Meter.Count.CandidatesScored += count;
            }

            long start = window << PostingWindow.SizeBits;
            for (int i = 0; i < count; i++)
            {
                // Most hits of a scored query end here, with one comparison.
                if (bestFirst && scores[i] < sorter.WorstScore)
                    continue;
                sorter.Add(start + offsets[i], isScored ? scores[i] : 0);
            }
        }

        Total = total;
    }

    private void TakePage(ReadOnlySpan<SortedHit> hits)
    {
        bool isScored = IsScored;
        ReadOnlySpan<SortedHit> page = request.Skip >= hits.Length ? default : hits[(int)request.Skip..];
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
        if (parts.Length == 0)
            parts = SortPlan.Open(context, request.Sort); // what is answered from the dictionary needs no keys
        var key = new KeyBuffer();
        foreach (KeyPart part in parts)
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
