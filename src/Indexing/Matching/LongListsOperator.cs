using System.Globalization;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching;

/// <summary>
/// A disjunction of long lists whose matches all score the same. The first windows are read list by list. Once a sixteenth of
/// all windows was needed, the lists are gathered into one bitmap, each in one pass, which takes a quarter of the time. So a
/// page of the first hits, or a rare condition beside it, reads little, and little of what is gathered is read twice. A query
/// that needs all matches has them gathered beforehand (<see cref="Gathered"/>).
/// </summary>
internal sealed class LongListsOperator : Operator
{
    private readonly OrOperator _lists;
    private UnionOperator? _gathered;
    private PlanNode? _node;
    private long _lastWindow = -1;
    private long _read;

    /// <param name="context">The query.</param>
    /// <param name="lists">The lists, at least two, possibly traced.</param>
    public LongListsOperator(QueryContext context, OrOperator lists)
        : base(context, lists.Expected, lists.Cost) => _lists = lists;

    private LongListsOperator(QueryContext context, OrOperator lists, UnionOperator gathered)
        : base(context, gathered.Expected, gathered.Cost) => (_lists, _gathered) = (lists, gathered);

    private Operator Current => _gathered is null ? _lists : _gathered;

    private bool CanGather => Context.View.WindowCount <= UnionOperator.MostFlatWindows;

    /// <summary>
    /// Returns an operator of the same lists, gathered, whose number of matches is known; this one if there are too many windows.
    /// </summary>
    public LongListsOperator Gathered() => !CanGather
        ? this
        : new LongListsOperator(Context, _lists, Gather())
        {
            Decision = Context.Tracer is null ? null : DecisionOf("all matches are needed"),
        };

    public override PlanNode Describe() => _node = _lists.Describe();

    public override long Next(long from) => Current.Next(from);

    public override void Fill(long window, WindowSet set) => At(window).Fill(window, set);

    public override void Combine(long window, WindowSet set, SetOperation operation) =>
        At(window).Combine(window, set, operation);

    public override bool Contains(long id) => At(id >> PostingWindow.SizeBits).Contains(id);

    public override int Count(long window) => At(window).Count(window);

    private Operator At(long window)
    {
        if (_gathered is not null || window == _lastWindow || !CanGather)
            return Current;

        _lastWindow = window;
        if (++_read > Math.Max(1, Context.View.WindowCount / 16))
        {
            _gathered = Gather();
            _node?.With(
                DecisionOf(string.Create(CultureInfo.InvariantCulture, $"more than {_read - 1:N0} windows were needed")));
        }

        return Current;
    }

    private UnionOperator Gather()
    {
        var union = new UnionOperator(Context);
        foreach (Operator list in _lists.Clauses)
            (TermOperator.Of(list) as LongListOperator)?.AddTo(union);
        union.Seal();
        return union;
    }

    private static PlanDecision DecisionOf(string reason) => new(
        "how to read the lists", "gathered into one bitmap", null, reason,
        [new PlanAlternative("window by window", null, "reads each list piece by piece")]);
}
