namespace Treepie.Indexing.Plans;

/// <summary>
/// One step of a query: what it is, what it was expected to find, what was decided there, and what it did. The tree is built
/// before the query runs and filled while it runs. All numbers but <see cref="Elapsed"/> and <see cref="ColdPages"/> are the same
/// on every run against the same view.
/// </summary>
public sealed class PlanNode
{
    private readonly List<PlanNode> _children = [];
    private readonly List<PlanDecision> _decisions = [];

    /// <summary>A step.</summary>
    /// <param name="operation">What it does, in small letters: "term", "and", "walk".</param>
    /// <param name="field">The field it is about.</param>
    /// <param name="label">What else tells it from others: a term, bounds, a page.</param>
    public PlanNode(string operation, string? field = null, string? label = null)
    {
        Operation = operation;
        Field = field;
        Label = label;
    }

    /// <summary>What it does.</summary>
    public string Operation { get; }

    /// <summary>The field it is about; null where there is none.</summary>
    public string? Field { get; }

    /// <summary>What else tells it from others.</summary>
    public string? Label { get; }

    /// <summary>Entries it was expected to find, at the most; null where nothing was expected.</summary>
    public long? Estimate { get; set; }

    /// <summary>Whether <see cref="Estimate"/> is the number itself, and not only the most.</summary>
    public bool IsExact { get; set; }

    /// <summary>The steps it draws from.</summary>
    public IReadOnlyList<PlanNode> Children => _children;

    /// <summary>What was decided here.</summary>
    public IReadOnlyList<PlanDecision> Decisions => _decisions;

    /// <summary>What it did itself, its children left out.</summary>
    public QueryCounters Counters { get; set; }

    /// <summary>Windows of 4,096 entries it was asked about.</summary>
    public long Windows { get; set; }

    /// <summary>Windows that were passed over because nothing in them could score enough.</summary>
    public long WindowsBelowBound { get; set; }

    /// <summary>Entries handed to it to keep those that match.</summary>
    public long RowsIn { get; set; }

    /// <summary>Entries it handed on.</summary>
    public long RowsOut { get; set; }

    /// <summary>Single entries it was asked about, outside of windows.</summary>
    public long Probes { get; set; }

    /// <summary>Time it spent itself, its children left out; null unless times were asked for.</summary>
    public TimeSpan? Elapsed { get; set; }

    /// <summary>
    /// Of the whole query: pages that were not in memory when they were entered, as far as the system tells what it reads from
    /// the disk. Not the same on every run, so it is no counter: null unless times were asked for, and for all steps but the
    /// first.
    /// </summary>
    public long? ColdPages { get; set; }

    /// <summary>Adds a child; gives this node.</summary>
    public PlanNode Over(PlanNode child)
    {
        _children.Add(child);
        return this;
    }

    /// <summary>Adds a decision; gives this node.</summary>
    public PlanNode With(PlanDecision decision)
    {
        _decisions.Add(decision);
        return this;
    }
}
