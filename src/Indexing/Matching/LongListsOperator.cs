using System.Globalization;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching;

/// <summary>
/// A disjunction of long lists whose matches all score the same. The first windows are read list by list. Once a sixteenth of
/// all windows was needed, the lists are gathered into one bitmap, each in one pass, which takes a quarter of the time. So a
/// page of the first hits, or a rare condition beside it, reads little, and little of what is gathered is read twice.
/// </summary>
/// <param name="context">The query.</param>
/// <param name="lists">The lists, at least two, possibly traced.</param>
internal sealed class LongListsOperator(QueryContext context, OrOperator lists)
    : Operator(context, lists.Expected, lists.Cost)
{
    private UnionOperator? _gathered;
    private PlanNode? _node;
    private long _lastWindow = -1;
    private long _read;

    private Operator Current => _gathered is null ? lists : _gathered;

    public override PlanNode Describe() => _node = lists.Describe();

    public override long Next(long from) => Current.Next(from);

    public override void Fill(long window, WindowSet set) => At(window).Fill(window, set);

    public override void Combine(long window, WindowSet set, SetOperation operation) =>
        At(window).Combine(window, set, operation);

    public override bool Contains(long id) => At(id >> PostingWindow.SizeBits).Contains(id);

    public override int Count(long window) => At(window).Count(window);

    private Operator At(long window)
    {
        if (_gathered is not null || window == _lastWindow || Context.View.WindowCount > UnionOperator.MostFlatWindows)
            return Current;

        _lastWindow = window;
        if (++_read > Math.Max(1, Context.View.WindowCount / 16))
            _gathered = Gather();
        return Current;
    }

    private UnionOperator Gather()
    {
        var union = new UnionOperator(Context);
        foreach (Operator list in lists.Clauses)
            (TermOperator.Of(list) as LongListOperator)?.AddTo(union);
        union.Seal();
        _node?.With(
            new PlanDecision(
                "how to read the lists", "gathered into one bitmap", null,
                string.Create(CultureInfo.InvariantCulture, $"more than {_read - 1:N0} windows were needed"),
                [new PlanAlternative("window by window", null, "reads each list piece by piece")]));
        return union;
    }
}
