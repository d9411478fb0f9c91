using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Matches the same entries as its clause and multiplies each score by the entry's number in the boost field,
/// <see cref="IndexSchema.BoostField"/>, or by 1 if it has none. The root of the query.
/// </summary>
internal sealed class DocumentBoostOperator : SameMatchesOperator
{
    private readonly NumberReader _boosts;
    private readonly float _most;
    private readonly float[] _own = new float[PostingWindow.Size];

    private DocumentBoostOperator(QueryContext context, Operator clause, float most)
        : base(context, clause)
    {
        _most = most;
        _boosts = new NumberReader(context, IndexSchema.BoostField);
    }

    /// <summary>Wraps a clause if the index has boosts.</summary>
    public static Operator Over(QueryContext context, Operator clause)
    {
        int field = context.View.Schema.IndexOf(IndexSchema.BoostField);
        if (field < 0 || context.View.Dictionary(TreeNames.Numbers(field)) is not { Count: > 0 } numbers)
            return clause;

        // The dictionary is sorted by number, so its last key is the largest factor.
        using TermCursor cursor = numbers.OpenCursor();
        cursor.MoveLast();
        return new DocumentBoostOperator(context, clause, Math.Max(1, BoostLimits.OfEntry(NumberKey.ToDouble(cursor.Key))));
    }

    public override PlanNode Describe() =>
        new PlanNode("boost", IndexSchema.BoostField, "of each document").Over(Clause.Describe());

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, bool allMatch)
    {
        Span<float> mine = _own.AsSpan(0, hits.Length);
        mine.Clear();
        Clause.Score(window, hits, mine, boost, allMatch);
        long start = window << PostingWindow.SizeBits;
        for (int i = 0; i < hits.Length; i++)
            scores[i] += _boosts.TryRead(start + hits[i], out double number) ? mine[i] * BoostLimits.OfEntry(number) : mine[i];
    }

    public override void AddBounds(long window, Span<float> bounds, float boost, EntryBounds? byEntry)
    {
        Span<float> mine = stackalloc float[PostingWindow.Blocks];
        mine.Clear();
        Clause.AddBounds(window, mine, boost);
        for (int i = 0; i < bounds.Length; i++)
            bounds[i] += mine[i] * _most;
    }
}
