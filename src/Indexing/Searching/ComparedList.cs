using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Searching;

/// <summary>
/// Hits that are the entries of one long list that are in a range, which is compared. How many they are is told without keeping
/// them, and a walk along the values of the range asks the list alone.
/// </summary>
/// <param name="List">The list, as its clause has it.</param>
/// <param name="Range">The range.</param>
internal sealed record ComparedList(Operator List, ColumnRangeOperator Range)
{
    /// <summary>What a plan says of it.</summary>
    public static PlanDecision Counting => new(
        "how to count", "the entries of the list are held against the range where they lie", null,
        "hits are met by a walk along the values, so none is kept",
        [new PlanAlternative("find all hits", null, "more than their number")]);

    /// <summary>All windows of the list, once they were counted.</summary>
    public PostingList? Windows { get; private set; }

    /// <summary>Looks whether a query is that; null if it is more, or less.</summary>
    public static ComparedList? Of(Operator root)
    {
        if ((root is TracedOperator traced ? traced.Inner : root) is not AndOperator { Clauses: [var first, var second] })
            return null;
        return Of(first, second) ?? Of(second, first);
    }

    /// <summary>As many hits as if the list had nothing to do with the range.</summary>
    public long Likely(long entries) => (long)((double)List.Estimate * Range.Estimate / Math.Max(1, entries));

    /// <summary>Counts the hits.</summary>
    public long Count(QueryContext context)
    {
        Windows = context.Rent<PostingList>();
        LongListOperator.Of(List)!.Open(Windows); // so it was recognized
        Windows.Unroll();
        return Range.Count(Windows);
    }

    private static ComparedList? Of(Operator list, Operator range) =>
        ColumnRangeOperator.Of(range) is { } compared && LongListOperator.Of(list) is not null
            ? new ComparedList(list, compared)
            : null;
}
