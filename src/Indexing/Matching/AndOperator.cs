using System.Diagnostics;
using Treepie.Indexing.Kernels;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Conjunction: matches the entries that all clauses match. The rarest clause leads and the others check only its survivors,
/// by window or, where few entries of a window survive, by probing each. If the leading clause has fewer entries than there
/// are windows, the others are not asked for their next window. A clause that examines each entry itself, such as a range
/// compared with a column, runs after clauses whose windows cost less, however rare it is.
/// </summary>
internal sealed class AndOperator : Operator
{
    /// <summary>
    /// The leading clause must be this many times rarer than the next for only its windows to be visited. Otherwise skipping
    /// windows by the next clause pays.
    /// </summary>
    private const int LeadRatio = 4;

    private readonly Operator[] _clauses;
    private readonly Operator[] _byCost;
    private readonly int[] _mostProbes;
    private readonly bool _isLed;
    private ushort[]? _offsets;

    /// <param name="context">The query.</param>
    /// <param name="clauses">At least two clauses, in the order in which their scores are added up.</param>
    public AndOperator(QueryContext context, Operator[] clauses)
        : this(context, clauses, PutBehind(InOrder(clauses)))
    {
    }

    private AndOperator(QueryContext context, Operator[] clauses, Operator[] byCost)
        : base(
            context, Estimated(context.View.State.EntryCount, byCost),
            new(byCost.Sum(clause => clause.Cost.Window), byCost[0].Cost.Probe + (byCost[1].Cost.Probe / 2)))
    {
        Debug.Assert(byCost.Length >= 2, "a conjunction has two clauses");
        _clauses = clauses;
        _byCost = byCost;
        ProbeHint hint = context.Hints.Probe;
        _mostProbes = new int[_byCost.Length];
        for (int i = 0; i < _mostProbes.Length; i++)
        {
            OperatorCost cost = _byCost[i].Cost;
            _mostProbes[i] = hint switch
            {
                ProbeHint.Windows => 0,
                ProbeHint.Entries => PostingWindow.Size,
                _ => Math.Min(WindowSet.MaxListCount, (int)(cost.Window / cost.Probe)),
            };
        }

        long lead = _byCost[0].Estimate;
        _isLed = hint switch
        {
            ProbeHint.Windows => false,
            ProbeHint.Entries => true,
            _ => lead <= context.View.WindowCount && lead <= _byCost[1].Estimate / LeadRatio,
        };
    }

    /// <summary>The clauses in the order in which their scores are added up.</summary>
    public Operator[] Clauses => _clauses;

    public override PlanNode Describe()
    {
        var node = new PlanNode("and");
        foreach (Operator clause in _byCost)
            node.Over(clause.Describe());
        return node.With(Decide());
    }

    /// <summary>
    /// Four times the product of the clauses' selectivities is likely, since terms that are queried together tend to occur
    /// together; at most the smallest estimate of a clause.
    /// </summary>
    private static MatchEstimate Estimated(long entryCount, Operator[] clauses)
    {
        long most = clauses.Min(clause => clause.Estimate);
        double likely = 4, least = most, entries = Math.Max(1, entryCount);
        foreach (Operator clause in clauses)
        {
            double one = clause.Expected.Likely;
            least = Math.Min(least, one);
            likely *= one / entries;
        }

        return new MatchEstimate(most, Math.Min(least, likely * entries), IsExact: most == 0);
    }

    /// <summary>Sorts by estimate, rarest first. The sort is stable.</summary>
    private static Operator[] InOrder(Operator[] clauses)
    {
        const int Few = 16;
        if (clauses.Length > Few)
            return [.. clauses.OrderBy(clause => clause.Estimate)];
        Operator[] ordered = [.. clauses];
        InsertionSort.Sort(ordered, default(RarestFirst));
        return ordered;
    }

    /// <summary>
    /// Moves ranges compared with a column, which examine each survivor, behind clauses whose windows cost less.
    /// </summary>
    private static Operator[] PutBehind(Operator[] ordered)
    {
        for (int i = ordered.Length - 2; i >= 0; i--)
        {
            for (int place = i;
                 place + 1 < ordered.Length
                     && ExaminesEach(ordered[place])
                     && ordered[place + 1].Cost.Window < ordered[place].Cost.Window;
                 place++)
                (ordered[place], ordered[place + 1]) = (ordered[place + 1], ordered[place]);
        }

        return ordered;
    }

    private static bool ExaminesEach(Operator clause) =>
        ColumnRangeOperator.Of(clause) is not null || TextRangeOperator.Of(clause) is not null;

    public override long Next(long from) => _isLed ? _byCost[0].Next(from) : NextOfAll<Operator>(_byCost, from);

    public override void Fill(long window, WindowSet set)
    {
        _byCost[0].Fill(window, set);
        for (int i = 1; i < _byCost.Length && !set.IsEmpty; i++)
            Keep(i, window, set);
    }

    public override void Combine(long window, WindowSet set, SetOperation operation)
    {
        if (operation != SetOperation.And)
        {
            base.Combine(window, set, operation);
            return;
        }

        for (int i = 0; i < _byCost.Length && !set.IsEmpty; i++)
            Keep(i, window, set);
    }

    public override bool Contains(long id)
    {
        foreach (Operator clause in _byCost)
        {
            if (!clause.Contains(id))
                return false;
        }

        return true;
    }

    /// <summary>
    /// Hits that match all clauses get the sum of the scores. Within a disjunction, some hits may not match this operator.
    /// </summary>
    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost, bool allMatch)
    {
        if (allMatch)
        {
            foreach (Operator clause in _clauses)
                clause.Score(window, hits, scores, boost, allMatch: false);
            return;
        }

        WindowSet mine = Context.Rent();
        mine.SetOffsets(hits);
        And(window, mine);
        if (!mine.IsEmpty)
            MatchedScores.Add(_clauses, window, mine, hits, scores, boost);
        Context.Return(mine);
    }

    public override void Bounds(Span<float> windows, float boost)
    {
        _byCost[0].Bounds(windows, boost);
        Span<float> others = Context.RentNumbers(windows.Length).AsSpan(0, windows.Length);
        for (int clause = 1; clause < _byCost.Length; clause++)
        {
            _byCost[clause].Bounds(others, boost);
            for (int i = 0; i < windows.Length; i++)
                windows[i] = windows[i] < 0 || others[i] < 0 ? NoMatch : windows[i] + others[i];
        }
    }

    public override void AddBounds(long window, Span<float> bounds, float boost, EntryBounds? byEntry)
    {
        foreach (Operator clause in _clauses)
            clause.AddBounds(window, bounds, boost, byEntry);
    }

    /// <summary>
    /// Keeps what a clause matches, by probing where the set is a short list. A bitmap always holds too many entries for
    /// probing to pay.
    /// </summary>
    private void Keep(int clause, long window, WindowSet set)
    {
        Debug.Assert((uint)clause < (uint)_byCost.Length && !set.IsEmpty, "a clause narrows a set that has members");
        if (_mostProbes[clause] == 0
            || (set.Form != WindowSetForm.List && _mostProbes[clause] < PostingWindow.Size)
            || set.Count > _mostProbes[clause])
        {
            _byCost[clause].And(window, set);
            return;
        }

        _offsets ??= Context.RentOffsets();
        int count = set.CopyTo(_offsets);
        int kept = 0;
        for (int i = 0; i < count; i++)
        {
            _offsets[kept] = _offsets[i];
            kept += _byCost[clause].Contains((window << PostingWindow.SizeBits) + _offsets[i]) ? 1 : 0;
        }

        Context.Meter.Count.EntriesScanned += count;
        set.SetOffsets(_offsets.AsSpan(0, kept));
    }

    /// <summary>
    /// The choice between window intersection and probing, with the cost of each over all windows of the leading clause.
    /// </summary>
    private PlanDecision Decide()
    {
        double windows = Math.Min(_byCost[0].Estimate, Context.View.WindowCount);
        double survivors = _byCost[0].Estimate;
        double byWindow = 0;
        double byEntry = 0;
        for (int i = 1; i < _byCost.Length; i++)
        {
            byWindow += windows * _byCost[i].Cost.Window;
            byEntry += survivors * _byCost[i].Cost.Probe;
            survivors *= _byCost[i].Estimate / (double)Math.Max(1, Context.View.State.EntryCount);
        }

        var intersection = new PlanAlternative(
            "window intersection", byWindow, "bitmaps and lists of 4,096 entries are combined as they lie in the pages");
        var probes = new PlanAlternative(
            "lead list and probe", byEntry, "each entry of the rarest clause is looked up in the others");
        return _isLed
            ? new PlanDecision(
                "how to combine", probes.Name, byEntry, "the rarest clause has fewer entries than there are windows",
                [intersection])
            : new PlanDecision(
                "how to combine", intersection.Name, byWindow,
                "the rarest clause leads, and where few of a window survive they are looked up one by one", [probes]);
    }

    /// <summary>Orders clauses by their estimate, lowest first.</summary>
    private readonly struct RarestFirst : IItemOrder<Operator>
    {
        public bool IsAfter(in Operator left, in Operator right) => left.Estimate > right.Estimate;
    }
}
