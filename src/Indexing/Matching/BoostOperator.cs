using Treepie.Indexing.Plans;

namespace Treepie.Indexing.Matching;

/// <summary>Matches as its clause does, with scores multiplied.</summary>
internal sealed class BoostOperator(QueryContext context, Operator clause, float factor) : Operator(context)
{
    public override long Estimate => clause.Estimate;

    public override double Likely => clause.Likely;

    public override bool IsExact => clause.IsExact;

    public override OperatorCost Cost => clause.Cost;

    public override PlanNode Describe() =>
        new PlanNode("boost", label: factor.ToString(System.Globalization.CultureInfo.InvariantCulture)).Over(clause.Describe());

    public override long Next(long from) => clause.Next(from);

    public override void Fill(long window, WindowSet set) => clause.Fill(window, set);

    public override void And(long window, WindowSet set) => clause.And(window, set);

    public override void Or(long window, WindowSet set) => clause.Or(window, set);

    public override void AndNot(long window, WindowSet set) => clause.AndNot(window, set);

    public override bool Contains(long id) => clause.Contains(id);

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost) =>
        clause.Score(window, hits, scores, boost * factor);

    public override void AddBounds(long window, Span<float> bounds, float boost) => clause.AddBounds(window, bounds, boost * factor);

    public override void AddEntryBounds(long window, EntryBounds bounds, float boost) => clause.AddEntryBounds(window, bounds, boost * factor);

    public override int ScoreEntries(Span<long> ids, Span<float> scores, float boost) => clause.ScoreEntries(ids, scores, boost * factor);

    public override float Bound(long window, float boost) => clause.Bound(window, boost * factor);

    public override void Bounds(Span<float> windows, float boost) => clause.Bounds(windows, boost * factor);

    public override int Count(long window) => clause.Count(window);

    public override bool KnowsCounts => clause.KnowsCounts;

    public override int Select(long window, WindowSet set, float threshold, float margin, bool counts) =>
        clause.Select(window, set, factor > 0 ? threshold / factor : 0, margin, counts);

    public override void ScoreMatches(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost) =>
        clause.ScoreMatches(window, hits, scores, boost * factor);
}
