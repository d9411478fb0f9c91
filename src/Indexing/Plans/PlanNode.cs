namespace Treepie.Indexing.Plans;

/// <summary>
/// One step of a query plan: what it is, what it was expected to find, the decisions made, and what it did. The tree is built
/// before the query is executed and filled while it runs. All numbers except <see cref="Elapsed"/> and <see cref="ColdPages"/>
/// are deterministic for the same view.
/// </summary>
public sealed class PlanNode
{
    private readonly List<PlanNode> _children = [];
    private readonly List<PlanDecision> _decisions = [];

    /// <summary>Creates a step.</summary>
    /// <param name="operation">The operation, in lower case: "term", "and", "walk".</param>
    /// <param name="field">The field it concerns.</param>
    /// <param name="label">Further details: a term, bounds, a page.</param>
    public PlanNode(string operation, string? field = null, string? label = null)
    {
        Operation = operation;
        Field = field;
        Label = label;
    }

    /// <summary>The operation.</summary>
    public string Operation { get; }

    /// <summary>The field it concerns; null if there is none.</summary>
    public string? Field { get; }

    /// <summary>Further details.</summary>
    public string? Label { get; }

    /// <summary>The estimated maximum number of entries it finds; null if there is no estimate.</summary>
    public long? Estimate { get; set; }

    /// <summary>Whether <see cref="Estimate"/> is exact instead of a maximum.</summary>
    public bool IsExact { get; set; }

    /// <summary>The steps that provide its input.</summary>
    public IReadOnlyList<PlanNode> Children => _children;

    /// <summary>The decisions made in this step.</summary>
    public IReadOnlyList<PlanDecision> Decisions => _decisions;

    /// <summary>The work done by the step itself, without its children.</summary>
    public QueryCounters Counters { get; set; }

    /// <summary>The number of windows of 4,096 entries that were requested.</summary>
    public long Windows { get; set; }

    /// <summary>The number of windows skipped because nothing in them could score high enough.</summary>
    public long WindowsBelowBound { get; set; }

    /// <summary>The number of entries passed to it for filtering.</summary>
    public long RowsIn { get; set; }

    /// <summary>The number of entries it returned.</summary>
    public long RowsOut { get; set; }

    /// <summary>The number of individual entries that were probed, outside of windows.</summary>
    public long Probes { get; set; }

    /// <summary>The time spent by the step itself, without its children; null unless times were requested.</summary>
    public TimeSpan? Elapsed { get; set; }

    /// <summary>
    /// For the whole query: the number of pages that were not in memory when they were accessed, as far as the system reports
    /// what it reads from disk. Not deterministic, so it is not one of the counters: null unless times were requested, and for
    /// all steps but the first.
    /// </summary>
    public long? ColdPages { get; set; }

    /// <summary>Adds a child and returns this node.</summary>
    public PlanNode Over(PlanNode child)
    {
        _children.Add(child);
        return this;
    }

    /// <summary>Adds a decision and returns this node.</summary>
    public PlanNode With(PlanDecision decision)
    {
        _decisions.Add(decision);
        return this;
    }
}
