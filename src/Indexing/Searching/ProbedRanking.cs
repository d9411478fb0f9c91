using Treepie.Indexing.Matching;
using Treepie.Indexing.Matching.Lists;
using Treepie.Indexing.Ranking;
using Treepie.Indexing.Sorting;

namespace Treepie.Indexing.Searching;

/// <summary>Of lists all of which have to match, some of few entries a window and others of many: see <see cref="ProbedLists"/>.</summary>
internal sealed class ProbedRanking(QueryContext context, ListQuery query, HitSorter sorter) : ListRanking(context, query, sorter)
{
    public override long Run(bool countsHits)
    {
        var mine = new ProbedList[Query.Clauses.Length];
        for (int i = 0; i < mine.Length; i++)
        {
            ListClause clause = Query.Clauses[i];
            if (!IsMerged(i))
                Unroll(i, copied: false);
            mine[i] = new ProbedList(IsMerged(i) ? Collect(i) : null, Lists[i], clause.Scorer, clause.Boost);
        }

        ProbedLists probed = Context.OpenProbed();
        var best = new SortedHits(Sorter);
        long total = probed.Run(mine, Order(), ref best);
        (WindowsScored, WindowsBelowBound) = (probed.WindowsScored, probed.WindowsBelowBound);
        return total;
    }

    /// <summary>The sorter.</summary>
    private readonly struct SortedHits(HitSorter sorter) : IBestHits
    {
        public float WorstScore => sorter.WorstScore;

        public void Offer(long id, float score) => sorter.AddIfBetter(id, score);
    }
}
