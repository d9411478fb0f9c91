namespace Treepie.Indexing.Matching.Lists;

/// <summary>Matches as its clause does, without the entries of lists whose windows lie side by side.</summary>
internal sealed class ExceptListsOperator(QueryContext context, Operator clause, UnrolledList[] lists) : Operator(context)
{
    public override long Estimate => clause.Estimate;

    public override double Likely => clause.Likely;

    public override OperatorCost Cost => clause.Cost;

    public override long Next(long from) => clause.Next(from);

    public override void Fill(long window, WindowSet set)
    {
        clause.Fill(window, set);
        Remove(window, set);
    }

    public override int Select(long window, WindowSet set, float threshold, float margin, bool counts)
    {
        clause.Select(window, set, threshold, margin, counts: false);
        Remove(window, set);
        return set.Count;
    }

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost) => clause.Score(window, hits, scores, boost);

    public override void ScoreMatches(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost) => clause.ScoreMatches(window, hits, scores, boost);

    public override void AddBounds(long window, Span<float> bounds, float boost) => clause.AddBounds(window, bounds, boost);

    public override void AddEntryBounds(long window, EntryBounds bounds, float boost) => clause.AddEntryBounds(window, bounds, boost);

    public override float Bound(long window, float boost) => clause.Bound(window, boost);

    public override void Bounds(Span<float> windows, float boost) => clause.Bounds(windows, boost);

    public override void Narrow(long window, Span<ulong> hits, float threshold, float margin) => clause.Narrow(window, hits, threshold, margin);

    private void Remove(long window, WindowSet set)
    {
        foreach (UnrolledList list in lists)
        {
            int place = list.Seek(window);
            if (list.WindowAt(place) == window)
                set.AndNot(list.OffsetsAt(place));
        }
    }
}
