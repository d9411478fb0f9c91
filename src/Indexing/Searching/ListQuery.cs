using System.Globalization;
using Treepie.Indexing.Matching;
using Treepie.Indexing.Queries;

namespace Treepie.Indexing.Searching;

/// <summary>
/// A query that is nothing but lists, all of which have to match or any, at least one of them of few entries a window: the best of it are found by merging these, see <see cref="ListRanking"/>.
/// Of a list of few entries, most of what is done window by window is the way there and back.
/// </summary>
/// <param name="IsAll">Whether all have to match.</param>
/// <param name="Boost">Boosts around the whole.</param>
/// <param name="Clauses">The lists, in the order in which their scores are added up.</param>
/// <param name="Ways">By clause, what is done with it.</param>
internal sealed record ListQuery(bool IsAll, float Boost, ListClause[] Clauses, ListWay[] Ways)
{
    /// <summary>Most lists: each has its windows side by side.</summary>
    private const int MostLists = 32;

    /// <summary>Entries a window, over all windows of the index, up to which a list is merged: with twice as many, most of its windows are bitmaps.</summary>
    private const int MostPerWindow = 48;

    /// <summary>Most entries of all merged lists, 2 bytes each: in a great index lists of few entries a window are long, too.</summary>
    private const long MostMerged = 1 << 20;

    /// <summary>How many times the windows of the rarest list another one may have to be merged with it: with more, it is sought in those of the rarest.</summary>
    private const int MostWindowsRatio = 4;

    /// <summary>From this part of the windows of a longer list on, that are asked about, it is cheaper to go along it than to seek each.</summary>
    private const int PlacedRatio = 2;

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
        if (operators is null || operators.Length > MostLists || context.Hints.Rank == RankHint.Windows)
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
        return merged is 0 or > MostMerged ? null : new ListQuery(root is AndOperator, boost, clauses, ways);
    }

    /// <summary>Why it is merged, for the plan.</summary>
    public string Reason
    {
        get
        {
            int merged = Ways.Count(way => way == ListWay.Merged);
            return merged == Clauses.Length
                ? "every list has few entries a window"
                : string.Create(CultureInfo.InvariantCulture, $"{merged} of {Clauses.Length} lists have few entries a window: the others are asked about these");
        }
    }

    private static ListWay[] Choose(QueryContext context, ListClause[] clauses, bool isAll)
    {
        long windows = context.View.WindowCount, most = context.Hints.Rank == RankHint.Lists ? long.MaxValue : MostPerWindow * windows;
        long least = long.MaxValue, merged = 0;
        foreach (ListClause clause in clauses)
            least = Math.Min(least, clause.List.Estimate);
        var ways = new ListWay[clauses.Length];
        for (int i = 0; i < ways.Length; i++)
        {
            long entries = clauses[i].List.Estimate;
            bool isMerged = entries <= most && (!isAll || Math.Min(entries, windows) <= MostWindowsRatio * Math.Min(least, windows));
            ways[i] = isMerged ? ListWay.Merged : ListWay.Asked;
            merged += isMerged ? entries : 0;
        }

        // All windows of the rarest list, or of the merged ones together, are asked about.
        long asked = Math.Min(windows, isAll ? least : merged);
        for (int i = 0; i < ways.Length; i++)
        {
            if (ways[i] == ListWay.Asked && clauses[i].List is LongListOperator && PlacedRatio * asked >= Math.Min(windows, clauses[i].List.Estimate))
                ways[i] = ListWay.Placed;
        }

        return ways;
    }
}

/// <summary>What is done with a list of a <see cref="ListQuery"/>.</summary>
internal enum ListWay
{
    /// <summary>Its entries are put side by side and merged with those of others.</summary>
    Merged,

    /// <summary>Its windows are found once, one after the other, and looked at where they lie.</summary>
    Placed,

    /// <summary>Windows of others are sought in it.</summary>
    Asked,
}
