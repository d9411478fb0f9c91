using Treepie.Indexing.Plans;

namespace Treepie.Indexing.Matching;

/// <summary>Matches the same entries as its clause and multiplies their scores by a factor.</summary>
internal sealed class BoostOperator(QueryContext context, Operator clause, float factor) : SameMatchesOperator(context, clause)
{
    public override PlanNode Describe() =>
        new PlanNode("boost", label: factor.ToString(System.Globalization.CultureInfo.InvariantCulture)).Over(Clause.Describe());

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, bool allMatch) =>
        Clause.Score(window, hits, scores, boost * factor, allMatch);

    public override void AddBounds(long window, Span<float> bounds, float boost, EntryBounds? byEntry) =>
        Clause.AddBounds(window, bounds, boost * factor, byEntry);

    public override void Bounds(Span<float> windows, float boost) => Clause.Bounds(windows, boost * factor);

    public override int Select(long window, WindowSet set, float threshold, bool counts) =>
        Clause.Select(window, set, factor > 0 ? threshold / factor : 0, counts);
}
