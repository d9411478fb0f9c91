using Treepie.Indexing.Plans;

namespace Treepie.Indexing.Matching;

/// <summary>Matches the same entries as its clause. Each match scores the boost, whatever the clause would score.</summary>
internal sealed class ConstantOperator(QueryContext context, Operator clause) : Operator(context)
{
    /// <summary>The clause that decides the matches.</summary>
    public Operator Clause => clause;

    public override long Estimate => clause.Estimate;

    public override bool IsExact => clause.IsExact;

    public override OperatorCost Cost => clause.Cost;

    public override PlanNode Describe() => new PlanNode("constant score").Over(clause.Describe());

    public override long Next(long from) => clause.Next(from);

    public override void Fill(long window, WindowSet set) => clause.Fill(window, set);

    public override void And(long window, WindowSet set) => clause.And(window, set);

    public override void Or(long window, WindowSet set) => clause.Or(window, set);

    public override void AndNot(long window, WindowSet set) => clause.AndNot(window, set);

    public override int Keep(long window, Span<ushort> offsets, bool wanted) => clause.Keep(window, offsets, wanted);

    public override bool Contains(long id) => clause.Contains(id);
}
