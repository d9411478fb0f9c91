using Treepie.Indexing.Plans;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Wraps an operator if a plan is requested: counts windows and entries in and out, and records what the operator reads. It
/// does not change what the operator does, so a query's counters are the same with and without it.
/// </summary>
internal sealed class TracedOperator : Operator
{
    private readonly Operator _inner;
    private readonly PlanTracer _tracer;
    private readonly PlanNode _node;

    public TracedOperator(QueryContext context, Operator inner, PlanTracer tracer)
        : base(context, inner.Expected, inner.Cost)
    {
        _inner = inner;
        _tracer = tracer;
        _node = inner.Describe();
        _node.Estimate ??= inner.Estimate;
        _node.IsExact = inner.IsExact;
        if (inner.Decision is { } decision)
            _node.With(decision);
        tracer.Add(_node);
    }

    /// <summary>The traced operator.</summary>
    public Operator Inner => _inner;

    public override PlanNode Describe() => _node;

    public override long Next(long from)
    {
        _tracer.Enter(_node);
        long next = _inner.Next(from);
        _tracer.Leave(_node);
        return next;
    }

    public override void Fill(long window, WindowSet set)
    {
        _tracer.Enter(_node);
        _inner.Fill(window, set);
        Leave(set);
    }

    public override void Combine(long window, WindowSet set, SetOperation operation)
    {
        _node.RowsIn += set.Count;
        _tracer.Enter(_node);
        _inner.Combine(window, set, operation);
        Leave(set);
    }

    public override int Keep(long window, Span<ushort> offsets, bool wanted)
    {
        _node.RowsIn += offsets.Length;
        _tracer.Enter(_node);
        int kept = _inner.Keep(window, offsets, wanted);
        _tracer.Leave(_node);
        _node.Windows++;
        _node.RowsOut += kept;
        return kept;
    }

    public override bool Contains(long id)
    {
        _tracer.Enter(_node);
        bool contains = _inner.Contains(id);
        _tracer.Leave(_node);
        _node.Probes++;
        _node.RowsOut += contains ? 1 : 0;
        return contains;
    }

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, bool allMatch)
    {
        _tracer.Enter(_node);
        _inner.Score(window, hits, scores, boost, allMatch);
        _tracer.Leave(_node);
    }

    public override void AddBounds(long window, Span<float> bounds, float boost, EntryBounds? byEntry)
    {
        _tracer.Enter(_node);
        _inner.AddBounds(window, bounds, boost, byEntry);
        _tracer.Leave(_node);
    }

    public override void Bounds(Span<float> windows, float boost)
    {
        _tracer.Enter(_node);
        _inner.Bounds(windows, boost);
        _tracer.Leave(_node);
    }

    public override int Count(long window)
    {
        _tracer.Enter(_node);
        int count = _inner.Count(window);
        _tracer.Leave(_node);
        _node.Windows++;
        _node.RowsOut += count;
        return count;
    }

    public override int Select(long window, WindowSet set, float threshold, bool counts)
    {
        _tracer.Enter(_node);
        int count = _inner.Select(window, set, threshold, counts);
        _tracer.Leave(_node);
        _node.Windows++;
        _node.RowsOut += count;
        return count;
    }

    public override void Narrow(long window, Span<ulong> hits, float threshold)
    {
        _tracer.Enter(_node);
        _inner.Narrow(window, hits, threshold);
        _tracer.Leave(_node);
    }

    private void Leave(WindowSet set)
    {
        _tracer.Leave(_node);
        _node.Windows++;
        _node.RowsOut += set.Count;
    }
}
