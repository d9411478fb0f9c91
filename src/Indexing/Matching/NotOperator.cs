using Treepie.Indexing.Plans;

namespace Treepie.Indexing.Matching;

/// <summary>Matches every entry that the clause does not match. Scores nothing.</summary>
internal sealed class NotOperator(QueryContext context, Operator all, Operator clause)
    : Operator(
        context,
        clause.IsExact ? MatchEstimate.Exactly(all.Estimate - clause.Estimate) : MatchEstimate.AtMost(all.Estimate),
        new(CostModel.ListWindow + clause.Cost.Window, clause.Cost.Probe))
{
    public override PlanNode Describe() => new PlanNode("not").Over(clause.Describe());

    public override long Next(long from) => all.Next(from);

    public override void Fill(long window, WindowSet set)
    {
        all.Fill(window, set);
        if (!set.IsEmpty)
            clause.Combine(window, set, SetOperation.AndNot);
    }

    /// <summary>A set to narrow contains only existing entries, so only the clause needs to be evaluated.</summary>
    public override void Combine(long window, WindowSet set, SetOperation operation)
    {
        if (operation == SetOperation.And)
            clause.Combine(window, set, SetOperation.AndNot);
        else
            base.Combine(window, set, operation);
    }

    public override bool Contains(long id) => !clause.Contains(id);

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, bool allMatch)
    {
    }

    public override void AddBounds(long window, Span<float> bounds, float boost, EntryBounds? byEntry)
    {
    }
}
