using System.Globalization;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Compiling;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Sorting;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Runs a query over an index and its tail of changes not yet indexed. Each side returns its first hits in order, the index
/// without the entries that the changes replaced or removed, and the two lists are merged by sort key.
/// </summary>
/// <remarks>
/// Entries of the changes have greater ids, so ties go to the index, as they would if the changes were indexed.
/// </remarks>
internal sealed class TailedSearch
{
    private readonly SearchRequest _request;
    private readonly List<long> _ids = [];
    private readonly List<float> _scores = [];

    private TailedSearch(SearchRequest request) => _request = request;

    /// <summary>The plan that was executed; null if none is requested.</summary>
    public PlanNode? Plan { get; private set; }

    /// <summary>Counters of both sides.</summary>
    public QueryCounters Counters { get; private set; }

    /// <summary>Entries of the page, in order.</summary>
    public long[] Ids => [.. _ids];

    /// <summary>Scores of the page; empty if nothing is scored.</summary>
    public float[] Scores => [.. _scores];

    /// <summary>
    /// Sort key of the last entry of the page, if the request asks for a position to continue from; null if the page is not
    /// full.
    /// </summary>
    public byte[]? LastKey { get; private set; }

    /// <summary>Number of hits of both sides.</summary>
    public long Total { get; private set; }

    public static TailedSearch Run(
        IndexView main, TailView tail, SearchRequest request, ReadOnlyMemory<byte> after, QueryOptions? options,
        CancellationToken cancellationToken)
    {
        using var combined = new CombinedIndex(main, tail, cancellationToken, options);
        // Merged once: a search that spans both sides is made once for the same conditions.
        IndexQuery merged = ClauseMerger.Merge(combined.Main, request.Query, SortPlan.NeedsScores(request.Sort));
        SearchRequest whole = request with
        {
            Query = merged,
            Skip = 0,
            Take = Math.Min(request.Take, long.MaxValue - request.Skip) + request.Skip
        };
        SearchRun first = Execute(combined.Main, whole with { Query = combined.Present(merged) }, after);
        SearchRun second = Execute(combined.Tail, whole, after);
        var search = new TailedSearch(request) { Total = first.Total + second.Total };
        search.Merge(combined.Main, first, combined.Tail, second);
        combined.Main.Check();
        search.Counters = combined.Measure();
        if (first.Plan is { } plan && second.Plan is { } changes)
            search.Plan = Describe(
                plan, changes, tail, search.Total, search._ids.Count, combined.Main.ColdPages(search.Counters.PagesRead));
        return search;
    }

    /// <summary>The plan node above the plans of both sides.</summary>
    public static PlanNode Describe(PlanNode index, PlanNode changes, TailView tail, long found, long given, long? coldPages) =>
        new PlanNode(
            "never stale",
            label: string.Create(
                CultureInfo.InvariantCulture,
                $"the index without {tail.Gone.Length:N0} entries that have changed since, and {tail.Index.State.EntryCount:N0} "
                    + $"entries of changes"))
        {
            Estimate = found,
            IsExact = true,
            RowsIn = found,
            RowsOut = given,
            Elapsed = index.Elapsed is null ? null : TimeSpan.Zero, // the steps below do all of its work
            ColdPages = coldPages,
        }
        .Over(index).Over(changes);

    private static SearchRun Execute(QueryContext context, SearchRequest request, ReadOnlyMemory<byte> after)
    {
        var run = new SearchRun(context, request with { CountsHits = true, WithPosition = false }, after);
        run.Execute();
        return run;
    }

    private void Merge(QueryContext mainContext, SearchRun first, QueryContext tailContext, SearchRun second)
    {
        KeyPart[] mainParts = SortPlan.Open(mainContext, _request.Sort), tailParts = SortPlan.Open(tailContext, _request.Sort);
        KeyBuffer mainKey = new(), tailKey = new();
        int i = 0, j = 0, keyed = -1, tailKeyed = -1;
        long wanted = _request.Take;
        for (long rank = 0; (i < first.Ids.Length || j < second.Ids.Length) && _ids.Count < wanted; rank++)
        {
            bool isMain = j == second.Ids.Length;
            if (i < first.Ids.Length && !isMain)
            {
                if (keyed != i)
                    Key(mainParts, first, keyed = i, mainKey);
                if (tailKeyed != j)
                    Key(tailParts, second, tailKeyed = j, tailKey);
                isMain = mainKey.Written.SequenceCompareTo(tailKey.Written) <= 0;
            }

            (SearchRun run, int place) = isMain ? (first, i++) : (second, j++);
            if (rank < _request.Skip)
                continue;
            if (_request.WithPosition && _ids.Count == _request.Take - 1)
                LastKey = run.KeyOf(place);
            _ids.Add(run.Ids[place]);
            if (run.Scores.Length > 0)
                _scores.Add(run.Scores[place]);
        }
    }

    private static void Key(KeyPart[] parts, SearchRun run, int place, KeyBuffer key)
    {
        key.Clear();
        foreach (KeyPart part in parts)
            part.Append(run.Ids[place], run.Scores.Length > 0 ? run.Scores[place] : 0, key);
    }
}
