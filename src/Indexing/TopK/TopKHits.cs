using Treepie.Indexing.Matching;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Sorting;

namespace Treepie.Indexing.TopK;

/// <summary>
/// State shared by the steps of a <see cref="BlockMaxSearch"/>: the plan, the best hits so far, and the score to beat.
/// </summary>
internal sealed class TopKHits(QueryContext context, TopKPlan plan, HitSorter sorter)
{
    /// <summary>
    /// See <see cref="FiltersFirst"/>. Bounds also exclude most entries, and cost about as much as a range.
    /// </summary>
    private const double MostPassing = 0.5;

    /// <summary>The query.</summary>
    public QueryContext Context => context;

    /// <summary>Its plan.</summary>
    public TopKPlan Plan => plan;

    /// <summary>A lower bound on the scores of the best hits, known before they are found.</summary>
    public float Floor { get; set; } = float.NegativeInfinity;

    /// <summary>The score a hit needs to be considered.</summary>
    public float Threshold => Math.Max(Floor, sorter.WorstScore);

    /// <summary>The score that the lists must give a hit; the filters' constant is the same for all.</summary>
    public float ListThreshold => (Threshold / Bm25.BoundMargin) - plan.Constant;

    /// <summary>Number of windows in which hits were scored.</summary>
    public long WindowsScored { get; set; }

    /// <summary>Number of windows that may have hits, but none among the best.</summary>
    public long WindowsBelowBound { get; set; }

    /// <summary>Buffer for the contribution of each list to a hit.</summary>
    public Span<float> Parts => plan.Parts;

    /// <summary>Offers a hit, given the contribution of each list in the order of the plan.</summary>
    public void Offer(long id, ReadOnlySpan<float> ofLists) => sorter.AddIfBetter(id, plan.Sum(ofLists));

    /// <summary>Offers a hit, given its score.</summary>
    public void Offer(long id, float score) => sorter.AddIfBetter(id, score);

    /// <summary>
    /// Whether the filters exclude so many entries that evaluating them first is cheaper than checking the bounds of all
    /// entries.
    /// </summary>
    public bool FiltersFirst => plan.Filters.Count > 0 && plan.PassingShare <= MostPassing;

    /// <summary>Filters ascending entries of a window in place.</summary>
    public Span<ushort> Filter(long window, Span<ushort> entries)
    {
        foreach (TopKFilter filter in plan.Filters)
        {
            if (entries.IsEmpty)
                break;
            entries = entries[..filter.Operator!.Keep(window, entries, filter.IsWanted)]; // set in a complete plan
        }

        return entries;
    }

    /// <summary>As <see cref="Filter(long, Span{ushort})"/>, for a set.</summary>
    public void Filter(long window, WindowSet set)
    {
        foreach (TopKFilter filter in plan.Filters)
        {
            if (set.IsEmpty)
                return;
            // Not null: set in a complete plan.
            filter.Operator!.Combine(window, set, filter.IsWanted ? SetOperation.And : SetOperation.AndNot);
        }
    }

    /// <summary>Whether an entry passes the filters.</summary>
    public bool Passes(long id)
    {
        foreach (TopKFilter filter in plan.Filters)
        {
            context.Meter.Count.EntriesScanned++;
            if (filter.Operator!.Contains(id) != filter.IsWanted) // set in a complete plan
                return false;
        }

        return true;
    }
}
