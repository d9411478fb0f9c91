using Treepie.Indexing.Plans;

namespace Treepie.Indexing.Matching;

/// <summary>Matches nothing.</summary>
internal sealed class NoneOperator(QueryContext context)
    : Operator(context, MatchEstimate.Exactly(0), CostModel.Unknown)
{
    public override PlanNode Describe() => new("nothing") { Estimate = 0, IsExact = true };

    public override long Next(long from) => End;

    public override void Fill(long window, WindowSet set) => set.SetEmpty();

    public override void Combine(long window, WindowSet set, SetOperation operation) => set.CombineNone(operation);
}
