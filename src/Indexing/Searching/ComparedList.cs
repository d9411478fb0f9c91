using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Hits that are the entries of one long list within a range that is compared with a column. They can be counted without
/// being kept, and a walk along the values of the range needs to probe only the list.
/// </summary>
/// <param name="List">The clause that is the list.</param>
/// <param name="Range">The range.</param>
internal sealed record ComparedList(Operator List, ColumnRangeOperator Range)
{
    /// <summary>The decision shown in the plan.</summary>
    public static PlanDecision Counting => new(
        "how to count", "the entries of the list are held against the range where they lie", null,
        "hits are met by a walk along the values, so none is kept",
        [new PlanAlternative("find all hits", null, "more than their number")]);

    /// <summary>All windows of the list; set by <see cref="Count"/>.</summary>
    public PostingList? Windows { get; private set; }

    /// <summary>Returns a query in this form, or null if it is anything else.</summary>
    public static ComparedList? Of(Operator root)
    {
        if ((root is TracedOperator traced ? traced.Inner : root) is not AndOperator { Clauses: [var first, var second] })
            return null;
        return Of(first, second) ?? Of(second, first);
    }

    /// <summary>The expected number of hits if the list and the range are independent.</summary>
    public long Likely(long entries) => (long)((double)List.Estimate * Range.Estimate / Math.Max(1, entries));

    /// <summary>Counts the hits.</summary>
    public long Count(QueryContext context)
    {
        Windows = context.Rent<PostingList>();
        TermOperator.Of(List)!.Open(Windows); // not null, see Of
        Windows.Unroll();
        return Range.Count(Windows);
    }

    private static ComparedList? Of(Operator list, Operator range) =>
        ColumnRangeOperator.Of(range) is { } compared && TermOperator.Of(list) is LongListOperator
            ? new ComparedList(list, compared)
            : null;
}
