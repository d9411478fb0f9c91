using Treepie.Indexing.Matching;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Sorting;

namespace Treepie.Indexing.TopK;

/// <summary>
/// What the steps of a <see cref="BlockMaxSearch"/> share: the plan, the best hits so far, and what a hit has to score to be one
/// of them.
/// </summary>
internal sealed class TopKHits(QueryContext context, TopKPlan plan, HitSorter sorter)
{
    /// <summary>See <see cref="FiltersFirst"/>: bounds take most entries out, too, and cost about as much as a range.</summary>
    private const double MostPassing = 0.5;

    /// <summary>The query.</summary>
    public QueryContext Context => context;

    /// <summary>Its plan.</summary>
    public TopKPlan Plan => plan;

    /// <summary>So much the best hits score at least, as is known before they are found.</summary>
    public float Floor { get; set; } = float.NegativeInfinity;

    /// <summary>What a hit has to score to be looked at.</summary>
    public float Threshold => Math.Max(Floor, sorter.WorstScore);

    /// <summary>What the lists have to give a hit, filters being the same for all.</summary>
    public float ListThreshold => (Threshold / Bm25.BoundMargin) - plan.Constant;

    /// <summary>Windows in which hits were scored.</summary>
    public long WindowsScored { get; set; }

    /// <summary>Windows that may have hits, none of which could be among the best.</summary>
    public long WindowsBelowBound { get; set; }

    /// <summary>Room for what each list gives a hit.</summary>
    public Span<float> Parts => plan.Parts;

    /// <summary>Offers a hit by what each list gives it, in the order of the plan.</summary>
    public void Offer(long id, ReadOnlySpan<float> ofLists) => sorter.AddIfBetter(id, plan.Sum(ofLists));

    /// <summary>Offers a hit by its score.</summary>
    public void Offer(long id, float score) => sorter.AddIfBetter(id, score);

    /// <summary>
    /// Whether the filters leave so few entries that to ask them costs less than to look at the bounds of what they take out.
    /// </summary>
    public bool FiltersFirst => plan.Filters.Count > 0 && plan.PassingShare <= MostPassing;

    /// <summary>Of ascending entries of a window, keeps those that the filters let through, in place.</summary>
    public Span<ushort> Filter(long window, Span<ushort> entries)
    {
        foreach (TopKFilter filter in plan.Filters)
        {
            if (entries.IsEmpty)
                break;
            entries = entries[..filter.Operator!.Keep(window, entries, filter.IsWanted)]; // the plan is complete
        }

        return entries;
    }

    /// <summary>As <see cref="Filter(long, Span{ushort})"/>, of a set.</summary>
    public void Filter(long window, WindowSet set)
    {
        foreach (TopKFilter filter in plan.Filters)
        {
            if (set.IsEmpty)
                return;
            if (filter.IsWanted)
                filter.Operator!.And(window, set); // the plan is complete
            else
                filter.Operator!.AndNot(window, set);
        }
    }

    /// <summary>Whether the filters let an entry through.</summary>
    public bool Passes(long id)
    {
        foreach (TopKFilter filter in plan.Filters)
        {
            context.Meter.Count.EntriesScanned++;
            if (filter.Operator!.Contains(id) != filter.IsWanted) // the plan is complete
                return false;
        }

        return true;
    }
}
