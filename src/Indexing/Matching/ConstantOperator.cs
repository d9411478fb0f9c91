using Treepie.Indexing.Plans;

namespace Treepie.Indexing.Matching;

/// <summary>Matches the same entries as its clause. Each match scores the boost, whatever the clause would score.</summary>
internal sealed class ConstantOperator(QueryContext context, Operator clause) : SameMatchesOperator(context, clause)
{
    public override PlanNode Describe() => new PlanNode("constant score").Over(Clause.Describe());
}
