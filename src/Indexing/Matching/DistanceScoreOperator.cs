using Treepie.Indexing.Kernels;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Spatial;

namespace Treepie.Indexing.Matching;

/// <summary>Matches as its clause does; a match counts <c>r / (r + d)</c> times the boost, d being its distance from the centre of a circle of radius r: 1 in the middle, ½ on the rim.</summary>
internal sealed class DistanceScoreOperator(QueryContext context, Operator clause, PlaceReader places, Circle circle) : Operator(context)
{
    private readonly CentreOnGrid centre = new(circle.Centre.Latitude * Earth.Radians, circle.Centre.Longitude * Earth.Radians);

    public override long Estimate => clause.Estimate;

    public override bool IsExact => clause.IsExact;

    public override OperatorCost Cost => clause.Cost;

    public override PlanNode Describe() => new PlanNode("score by distance").Over(clause.Describe());

    public override long Next(long from) => clause.Next(from);

    public override void Fill(long window, WindowSet set) => clause.Fill(window, set);

    public override void And(long window, WindowSet set) => clause.And(window, set);

    public override void Or(long window, WindowSet set) => clause.Or(window, set);

    public override void AndNot(long window, WindowSet set) => clause.AndNot(window, set);

    public override bool Contains(long id) => clause.Contains(id);

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        WindowSet mine = Context.Rent();
        mine.SetOffsets(hits);
        clause.And(window, mine);
        for (int i = 0; i < hits.Length && !mine.IsEmpty; i++)
        {
            if (mine.Contains(hits[i]) && places.TryNearest((window << PostingWindow.SizeBits) + hits[i], centre, out _, out double haversine))
                scores[i] += (float)(boost * circle.RadiusKm / (circle.RadiusKm + Earth.ToKm(haversine)));
        }

        Context.Return(mine);
    }
}
