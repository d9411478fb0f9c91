namespace Treepie.Indexing.Plans;

/// <summary>
/// Attributes every page, block and entry that a query reads to the step that reads it, using a stack of the running steps.
/// Only created for queries that request their plan or have a budget.
/// </summary>
/// <param name="measure">Returns the query's current counters.</param>
/// <param name="clock">The clock; null if times are not requested.</param>
internal sealed class PlanTracer(Func<QueryCounters> measure, TimeProvider? clock)
{
    private readonly List<Frame> _frames = [];
    private readonly List<PlanNode> _nodes = [];

    /// <summary>Begins a step. A step that is still being built has only a name.</summary>
    public void Enter(PlanNode? node, string? name = null) =>
        _frames.Add(new Frame(node, name, measure(), default, clock?.GetTimestamp() ?? 0, TimeSpan.Zero));

    /// <summary>Ends the step begun last; its node is known by now.</summary>
    public void Leave(PlanNode node)
    {
        Frame frame = _frames[^1];
        _frames.RemoveAt(_frames.Count - 1);
        QueryCounters spent = measure() - frame.Start;
        node.Counters += spent - frame.Children;
        TimeSpan elapsed = clock?.GetElapsedTime(frame.Started) ?? TimeSpan.Zero;
        if (clock is not null)
            node.Elapsed = (node.Elapsed ?? TimeSpan.Zero) + elapsed - frame.ChildrenElapsed;
        if (_frames.Count > 0)
            _frames[^1] = _frames[^1] with
            {
                Children = _frames[^1].Children + spent,
                ChildrenElapsed = _frames[^1].ChildrenElapsed + elapsed
            };
    }

    /// <summary>Registers a step for <see cref="Costliest"/>.</summary>
    public void Add(PlanNode node) => _nodes.Add(node);

    /// <summary>Returns the step that has spent most of a resource, including running steps, and how much.</summary>
    public (string Name, long Spent) Costliest(Func<QueryCounters, long> kind)
    {
        QueryCounters now = measure();
        var open = new Dictionary<PlanNode, QueryCounters>(ReferenceEqualityComparer.Instance);
        (string Name, long Spent) worst = ("the query", 0);
        for (int i = _frames.Count - 1; i >= 0; i--)
        {
            // What a child has spent is added to its parent's frame only when the child ends.
            QueryCounters inner = i + 1 < _frames.Count ? now - _frames[i + 1].Start : default;
            QueryCounters own = now - _frames[i].Start - _frames[i].Children - inner;
            if (_frames[i].Node is { } node)
                open[node] = open.GetValueOrDefault(node) + own;
            else
                Offer(_frames[i].Name ?? "the query", kind(own));
        }

        foreach (PlanNode node in _nodes)
            Offer(NameOf(node), kind(node.Counters + open.GetValueOrDefault(node)));
        return worst;

        void Offer(string name, long spent)
        {
            if (spent > worst.Spent)
                worst = (name, spent);
        }
    }

    private static string NameOf(PlanNode node) =>
        node.Operation + (node.Field is null ? "" : $" over '{node.Field}'") + (node.Label is null ? "" : $" ({node.Label})");

    private readonly record struct Frame(
        PlanNode? Node, string? Name, QueryCounters Start, QueryCounters Children, long Started, TimeSpan ChildrenElapsed);
}
