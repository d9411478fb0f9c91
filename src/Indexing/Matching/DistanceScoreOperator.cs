using Treepie.Indexing.Kernels;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Spatial;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Scores a match by its distance d from the centre of a circle of radius r: <c>r / (r + d)</c> times the boost, which is 1
/// at the centre and ½ on the circle.
/// </summary>
internal sealed class DistanceScoreOperator(QueryContext context, Operator clause, PlaceReader places, Circle circle)
    : SameMatchesOperator(context, clause)
{
    private readonly CentreOnGrid _centre = new(circle.Centre.Latitude * Earth.Radians, circle.Centre.Longitude * Earth.Radians);

    public override PlanNode Describe() => new PlanNode("score by distance").Over(Clause.Describe());

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, bool allMatch)
    {
        WindowSet mine = Context.Rent();
        mine.SetOffsets(hits);
        Clause.And(window, mine);
        for (int i = 0; i < hits.Length && !mine.IsEmpty; i++)
        {
            if (mine.Contains(hits[i])
                && places.TryNearest((window << PostingWindow.SizeBits) + hits[i], _centre, out _, out double haversine))
                scores[i] += (float)(boost * circle.RadiusKm / (circle.RadiusKm + Earth.ToKm(haversine)));
        }

        Context.Return(mine);
    }
}
