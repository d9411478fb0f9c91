using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Sorting;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Runs one prepared query: the loop over windows, in one of three forms: count, first in id order, in an order. Cancellation
/// is checked at every window. An order is found by walking its dictionary or by sorting, whichever
/// is cheaper by exact counts; both give the same answer.
/// </summary>
internal sealed class SearchRun(QueryContext context, Operator root, SearchRequest request)
{
    /// <summary>Most hits wanted for which it pays to look at bounds: with more, most blocks hold one.</summary>
    private const int MostByBounds = 10_000;

    private readonly ushort[] offsets = new ushort[PostingWindow.Size];
    private readonly WindowSet set = context.Rent();

    /// <summary>All hits, before skip and take.</summary>
    public long Total { get; private set; }

    /// <summary>Entries of the page, in order.</summary>
    public long[] Ids { get; private set; } = [];

    /// <summary>Their scores; empty if nothing is scored.</summary>
    public float[] Scores { get; private set; } = [];

    public void Execute()
    {
        if (request.Take == 0)
            CountAll(from: 0);
        else if (request.Sort.Count == 0)
            CollectInIdOrder();
        else
            CollectSorted();
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
            context.CancellationToken.ThrowIfCancellationRequested();
            root.Fill(window, set);
            Total += set.Count;
        }
    }

    private void CollectInIdOrder()
    {
        long end = Math.Min(request.Take, long.MaxValue - request.Skip) + request.Skip;
        var ids = new List<long>((int)Math.Min(1024, request.Take));
        for (long window = root.Next(0); window != Operator.End; window = root.Next(window + 1))
        {
            context.CancellationToken.ThrowIfCancellationRequested();
            root.Fill(window, set);
            int count = set.Count;
            if (Total + count > request.Skip)
            {
                set.CopyTo(offsets);
                long first = Math.Max(0, request.Skip - Total);
                long last = Math.Min(count, end - Total);
                for (long i = first; i < last; i++)
                    ids.Add((window << PostingWindow.SizeBits) + offsets[i]);
            }

            Total += count;
            if (Total >= end)
            {
                CountAll(window + 1);
                break;
            }
        }

        Ids = [.. ids];
    }

    private void CollectSorted()
    {
        KeyPart[] parts = SortPlan.Open(context, request.Sort);
        bool isScored = SortPlan.NeedsScores(request.Sort);
        long limit = Math.Min(request.Take, long.MaxValue - request.Skip) + request.Skip;
        if (isScored)
        {
            if (request is { Sort: [{ Kind: SortKind.Score, Descending: true }], OrderHint: not OrderHint.Sort } && limit <= MostByBounds)
            {
                var sorter = new HitSorter(parts, limit);
                Total = new BoundedRanking(context, root, sorter).Run();
                TakePage(sorter.Finish(), isScored);
                return;
            }

            CollectByColumn(parts, limit, isScored);
            return;
        }

        CountAll(from: 0);
        var filter = new FilterProbe(context, root, request.Query is MatchAllQuery);
        if (DistanceWalk.TryOpen(context, filter, request, parts, Total, limit) is { } nearest)
        {
            List<long> near = nearest.Run();
            Ids = request.Skip >= near.Count ? [] : [.. near[(int)request.Skip..]];
            return;
        }

        if (OrderWalk.TryOpen(context, filter, request, parts, Total, limit) is { } walk)
        {
            List<long> found = walk.Run();
            Ids = request.Skip >= found.Count ? [] : [.. found[(int)request.Skip..]];
            return;
        }

        CollectByColumn(parts, limit, isScored);
    }

    private void CollectByColumn(KeyPart[] parts, long limit, bool isScored)
    {
        long total = 0;
        var sorter = new HitSorter(parts, limit);
        bool bestFirst = request.Sort[0] is { Kind: SortKind.Score, Descending: true };
        float[] scores = new float[isScored ? PostingWindow.Size : 1];
        for (long window = root.Next(0); window != Operator.End; window = root.Next(window + 1))
        {
            context.CancellationToken.ThrowIfCancellationRequested();
            root.Fill(window, set);
            int count = set.CopyTo(offsets);
            total += count;
            if (isScored && count > 0)
            {
                scores.AsSpan(0, count).Clear();
                root.Score(window, offsets.AsSpan(0, count), scores.AsSpan(0, count), 1);
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
        TakePage(sorter.Finish(), isScored);
    }

    private void TakePage(ReadOnlySpan<SortedHit> hits, bool isScored)
    {
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
}
