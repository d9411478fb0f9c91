using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Vectors;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>
/// Runs the searches of a <see cref="FusionQuery"/> while the query is compiled, each for its best entries, and fuses the
/// results into one list.
/// </summary>
/// <param name="context">The query.</param>
/// <param name="beside">The other conditions of the conjunction.</param>
internal sealed class FusionCompiler(QueryContext context, IReadOnlyList<IndexQuery> beside)
{
    private readonly ushort[] _offsets = new ushort[PostingWindow.Size];
    private readonly float[] _scores = new float[PostingWindow.Size];
    private readonly float[] _bounds = new float[PostingWindow.Blocks];

    /// <param name="query">The fusion.</param>
    /// <param name="filter">The other conditions as an operator; null if there are none.</param>
    /// <exception cref="IndexQueryException">A weight, the window or the number of clauses is out of range.</exception>
    public NearestOperator Compile(FusionQuery query, Operator? filter)
    {
        Check(query);
        var sources = new List<PlanNode>();
        var lists = new List<List<NearEntry>>();
        foreach (FusionClause clause in query.Clauses)
        {
            Operator search = Search(clause.Query, filter);
            lists.Add(Best(search, filter, query.Window));
            sources.Add(search.Describe());
        }

        string way = query.Method == FusionMethod.ReciprocalRank ? "by places" : "by scores";
        return new NearestOperator(context, Fuse(query, lists), null, way, "fusion") { Sources = sources };
    }

    /// <summary>Returns the best entries of one search.</summary>
    public List<NearEntry> Best(IndexQuery search, Operator? filter, int count) => Best(Search(search, filter), filter, count);

    /// <summary>Fuses the results of the clauses, each best first, into one list.</summary>
    public static List<NearEntry> Fuse(FusionQuery query, IReadOnlyList<List<NearEntry>> lists)
    {
        var fused = new Dictionary<long, double>();
        for (int place = 0; place < lists.Count; place++)
        {
            List<NearEntry> best = lists[place];
            double least = best.Count == 0 ? 0 : best[^1].Similarity, range = best.Count == 0 ? 0 : best[0].Similarity - least;
            for (int i = 0; i < best.Count; i++)
            {
                double part = query.Method == FusionMethod.ReciprocalRank ? 1d / (FusionQuery.RankConstant + i + 1)
                    : range > 0 ? (best[i].Similarity - least) / range
                    : 1;
                fused[best[i].Id] = fused.GetValueOrDefault(best[i].Id) + (query.Clauses[place].Weight * part);
            }
        }

        return [.. fused.Select(entry => new NearEntry(entry.Key, (float)entry.Value))];
    }

    /// <summary>Checks a fusion before any of its searches runs.</summary>
    /// <exception cref="IndexQueryException">A weight, the window or the number of clauses is out of range.</exception>
    public static void Check(FusionQuery query)
    {
        if (query.Clauses.Count is < 1 or > FusionQuery.MaxClauses)
            throw new IndexQueryException(
                $"A fusion has 1 to {FusionQuery.MaxClauses} searches; {query.Clauses.Count} are given.");
        if (query.Window is < 1 or > FusionQuery.MaxWindow)
            throw new IndexQueryException(
                $"Each search of a fusion gives 1 to {FusionQuery.MaxWindow:N0} entries; {query.Window} is out of range.");
        foreach (FusionClause clause in query.Clauses)
            if (clause.Weight == 0 || !BoostLimits.IsOfQuery(clause.Weight))
                throw new IndexQueryException(
                    $"The weight of a search in a fusion is a number from {BoostLimits.LeastOfQuery} to "
                        + $"{BoostLimits.MostOfQuery}; {clause.Weight} is not.");
    }

    private Operator Search(IndexQuery query, Operator? filter)
    {
        var compiler = new QueryCompiler(context, isScored: true);
        if (query is not (VectorQuery or FusionQuery))
            return compiler.Compile(query);

        context.Tracer?.Enter(null, query is VectorQuery ? "vector" : "fusion");
        Operator found = compiler.Traced(compiler.Late(query, filter, beside));
        context.Tracer?.Leave(found.Describe());
        return found;
    }

    /// <summary>
    /// Returns the best hits of a search that pass the filter, best first; of equal hits, the lower id first.
    /// </summary>
    private List<NearEntry> Best(Operator search, Operator? filter, int count)
    {
        var best = new PriorityQueue<NearEntry, (float Score, long NegativeId)>(count + 1);
        WindowSet set = context.Rent();
        for (long window = search.Next(0); window != Operator.End; window = search.Next(window + 1))
        {
            context.Check();
            if (best.Count == count && Most(search, window) < Worst(best))
                continue;
            search.Fill(window, set);
            filter?.And(window, set);
            int hits = set.CopyTo(_offsets);
            _scores.AsSpan(0, hits).Clear();
            search.Score(window, _offsets.AsSpan(0, hits), _scores.AsSpan(0, hits), 1, allMatch: true);
            context.Meter.Count.CandidatesScored += hits;
            long start = window << PostingWindow.SizeBits;
            for (int i = 0; i < hits; i++)
            {
                if (best.Count == count && _scores[i] <= Worst(best))
                    continue; // ids ascend, so an equal score loses
                if (best.Count == count)
                    best.Dequeue();
                best.Enqueue(new NearEntry(start + _offsets[i], _scores[i]), (_scores[i], -(start + _offsets[i])));
            }
        }

        context.Return(set);
        var list = new List<NearEntry>(best.Count);
        while (best.TryDequeue(out NearEntry entry, out _))
            list.Add(entry);
        list.Reverse();
        return list;
    }

    private static float Worst(PriorityQueue<NearEntry, (float Score, long NegativeId)> best) => best.Peek().Similarity;

    private float Most(Operator search, long window)
    {
        Array.Clear(_bounds);
        search.AddBounds(window, _bounds, 1);
        float most = 0;
        foreach (float bound in _bounds)
            most = Math.Max(most, bound);
        return most * 1.0001f; // allows for different rounding of bounds and scores
    }
}
