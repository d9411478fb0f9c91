using System.Globalization;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Queries;

namespace Treepie.Indexing.Searching;

/// <summary>
/// A query that is nothing but lists, all of which have to match or any, at least one of them of few entries a window: the best of it are found by merging these, see <see cref="ListRanking"/>.
/// Of a list of few entries, most of what is done window by window is the way there and back. Or all of many entries, all of which have to match: these are looked at by blocks.
/// </summary>
/// <param name="IsAll">Whether all have to match.</param>
/// <param name="Boost">Boosts around the whole.</param>
/// <param name="Clauses">The lists, in the order in which their scores are added up.</param>
/// <param name="Ways">By clause, what is done with it.</param>
internal sealed record ListQuery(bool IsAll, float Boost, ListClause[] Clauses, ListWay[] Ways)
{
    /// <summary>Weights of which the parts of a sum are rounded as numbers near 1 are.</summary>
    private const float LeastWeight = 1e-20f, MostWeight = 1e30f;

    /// <summary>Looks whether a query is one; null if it is more, or all its lists are long, or they are too long to lie in memory.</summary>
    public static ListQuery? Of(QueryContext context, Operator root)
    {
        float boost = 1;
        while (root is TracedOperator or BoostOperator)
        {
            boost *= root is BoostOperator boosted ? boosted.Factor : 1;
            root = root is TracedOperator traced ? traced.Inner : ((BoostOperator)root).Inner;
        }

        Operator[]? operators = root is AndOperator all ? all.Clauses : root is OrOperator any ? any.Clauses : null;
        if (operators is null || operators.Length > ListWays.MostLists || context.Hints.Rank == RankHint.Windows)
            return null;

        var clauses = new ListClause[operators.Length];
        for (int i = 0; i < clauses.Length; i++)
        {
            if (ListClause.Of(operators[i], boost) is not { } clause)
                return null;
            clauses[i] = clause;
        }

        ListWay[] ways = Choose(context, clauses, root is AndOperator);
        long merged = 0;
        for (int i = 0; i < ways.Length; i++)
            merged += ways[i] == ListWay.Merged ? clauses[i].List.Estimate : 0;
        if (merged == 0 && root is AndOperator && Array.TrueForAll(clauses, IsForBlocks))
        {
            Array.Fill(ways, ListWay.Placed);
            return new ListQuery(true, boost, clauses, ways);
        }

        return merged is 0 or > ListWays.MostMerged ? null : new ListQuery(root is AndOperator, boost, clauses, ways);
    }

    /// <summary>Whether it is known what a list of many entries gives those of a block at the most, in numbers that sums can be made of.</summary>
    private static bool IsForBlocks(ListClause clause) => clause is { List: LongListOperator, Scorer: not null, Most: >= LeastWeight and <= MostWeight };

    /// <summary>Whether all lists have to match, and none has few entries a window: see <see cref="BlockRanking"/>.</summary>
    public bool IsByBlocks => IsAll && Array.TrueForAll(Ways, way => way == ListWay.Placed);

    /// <summary>Why it is merged, for the plan.</summary>
    public string Reason
    {
        get
        {
            if (IsByBlocks)
                return "what the blocks of all lists promise is added up before a hit is looked at: the best are in few of them";
            int merged = Ways.Count(way => way == ListWay.Merged);
            return merged == Clauses.Length
                ? "every list has few entries a window"
                : string.Create(CultureInfo.InvariantCulture, $"{merged} of {Clauses.Length} lists have few entries a window: the others are asked about these");
        }
    }

    private static ListWay[] Choose(QueryContext context, ListClause[] clauses, bool isAll)
    {
        Span<long> entries = stackalloc long[clauses.Length];
        for (int i = 0; i < clauses.Length; i++)
            entries[i] = clauses[i].List.Estimate;
        long windows = context.View.WindowCount;
        var ways = new ListWay[clauses.Length];
        ListWays.Choose(entries, windows, context.Hints.Rank == RankHint.Lists ? long.MaxValue : ListWays.MostEntries(windows), isAll, ways);
        return ways;
    }
}
