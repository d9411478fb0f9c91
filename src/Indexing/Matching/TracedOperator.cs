using Treepie.Indexing.Plans;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Stands before an operator where a plan is wanted: counts windows and entries in and out, and notes what the operator reads. It
/// changes nothing of what the operator does, so the counters of a query are the same with and without it.
/// </summary>
internal sealed class TracedOperator : Operator
{
    private readonly Operator inner;
    private readonly PlanTracer tracer;
    private readonly PlanNode node;

    public TracedOperator(QueryContext context, Operator inner, PlanTracer tracer)
        : base(context)
    {
        this.inner = inner;
        this.tracer = tracer;
        node = inner.Describe();
        node.Estimate ??= inner.Estimate;
        node.IsExact = inner.IsExact;
        if (inner.Decision is { } decision)
            node.With(decision);
        tracer.Add(node);
    }

    /// <summary>What it notes.</summary>
    public Operator Inner => inner;

    public override long Estimate => inner.Estimate;

    public override double Likely => inner.Likely;

    public override bool IsExact => inner.IsExact;

    public override OperatorCost Cost => inner.Cost;

    public override bool LooksAtSurvivors => inner.LooksAtSurvivors;

    public override PlanNode Describe() => node;

    public override void Announce() => inner.Announce();

    public override void AnnounceLengths() => inner.AnnounceLengths();

    public override long Next(long from)
    {
        tracer.Enter(node);
        long next = inner.Next(from);
        tracer.Leave(node);
        return next;
    }

    public override void Fill(long window, WindowSet set)
    {
        tracer.Enter(node);
        inner.Fill(window, set);
        Leave(set);
    }

    public override void And(long window, WindowSet set)
    {
        node.RowsIn += set.Count;
        tracer.Enter(node);
        inner.And(window, set);
        Leave(set);
    }

    public override void Or(long window, WindowSet set)
    {
        node.RowsIn += set.Count;
        tracer.Enter(node);
        inner.Or(window, set);
        Leave(set);
    }

    public override void AndNot(long window, WindowSet set)
    {
        node.RowsIn += set.Count;
        tracer.Enter(node);
        inner.AndNot(window, set);
        Leave(set);
    }

    public override int Keep(long window, Span<ushort> offsets, bool wanted)
    {
        node.RowsIn += offsets.Length;
        tracer.Enter(node);
        int kept = inner.Keep(window, offsets, wanted);
        tracer.Leave(node);
        node.Windows++;
        node.RowsOut += kept;
        return kept;
    }

    public override bool Contains(long id)
    {
        tracer.Enter(node);
        bool contains = inner.Contains(id);
        tracer.Leave(node);
        node.Probes++;
        node.RowsOut += contains ? 1 : 0;
        return contains;
    }

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        tracer.Enter(node);
        inner.Score(window, hits, scores, boost);
        tracer.Leave(node);
    }

    public override void AddBounds(long window, Span<float> bounds, float boost)
    {
        tracer.Enter(node);
        inner.AddBounds(window, bounds, boost);
        tracer.Leave(node);
    }

    public override void AddEntryBounds(long window, EntryBounds bounds, float boost)
    {
        tracer.Enter(node);
        inner.AddEntryBounds(window, bounds, boost);
        tracer.Leave(node);
    }

    public override void ScoreMatches(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        tracer.Enter(node);
        inner.ScoreMatches(window, hits, scores, boost);
        tracer.Leave(node);
    }

    public override int ScoreEntries(Span<long> ids, Span<float> scores, float boost)
    {
        tracer.Enter(node);
        int count = inner.ScoreEntries(ids, scores, boost);
        tracer.Leave(node);
        node.RowsOut += Math.Max(0, count);
        return count;
    }

    public override float Bound(long window, float boost)
    {
        tracer.Enter(node);
        float bound = inner.Bound(window, boost);
        tracer.Leave(node);
        return bound;
    }

    public override void Bounds(Span<float> windows, float boost)
    {
        tracer.Enter(node);
        inner.Bounds(windows, boost);
        tracer.Leave(node);
    }

    public override int Count(long window)
    {
        tracer.Enter(node);
        int count = inner.Count(window);
        tracer.Leave(node);
        node.Windows++;
        node.RowsOut += count;
        return count;
    }

    public override bool KnowsCounts => inner.KnowsCounts;

    public override int Select(long window, WindowSet set, float threshold, float margin, bool counts)
    {
        tracer.Enter(node);
        int count = inner.Select(window, set, threshold, margin, counts);
        tracer.Leave(node);
        node.Windows++;
        node.RowsOut += count;
        return count;
    }

    public override void Narrow(long window, Span<ulong> hits, float threshold, float margin)
    {
        tracer.Enter(node);
        inner.Narrow(window, hits, threshold, margin);
        tracer.Leave(node);
    }

    private void Leave(WindowSet set)
    {
        tracer.Leave(node);
        node.Windows++;
        node.RowsOut += set.Count;
    }
}
