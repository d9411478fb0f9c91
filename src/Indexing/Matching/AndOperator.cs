namespace Treepie.Indexing.Matching;

/// <summary>Matches what all clauses match. The rarest clause leads; the others look at its survivors only.</summary>
internal sealed class AndOperator : Operator
{
    private readonly Operator[] clauses;
    private readonly Operator[] byCost;

    /// <param name="context">The query.</param>
    /// <param name="clauses">Two or more, in the order in which their scores are added up.</param>
    public AndOperator(QueryContext context, Operator[] clauses)
        : base(context)
    {
        this.clauses = clauses;
        byCost = [.. clauses.OrderBy(clause => clause.Estimate)];
    }

    public override long Estimate => byCost[0].Estimate;

    public override bool IsExact => byCost[0].Estimate == 0;

    public override long Next(long from)
    {
        long window = from;
        for (int agreed = 0; agreed < byCost.Length;)
        {
            agreed = 0;
            foreach (Operator clause in byCost)
            {
                long next = clause.Next(window);
                if (next == End)
                    return End;
                if (next != window)
                {
                    window = next;
                    break;
                }

                agreed++;
            }
        }

        return window;
    }

    public override void Fill(long window, WindowSet set)
    {
        byCost[0].Fill(window, set);
        for (int i = 1; i < byCost.Length && !set.IsEmpty; i++)
            byCost[i].And(window, set);
    }

    public override void And(long window, WindowSet set)
    {
        for (int i = 0; i < byCost.Length && !set.IsEmpty; i++)
            byCost[i].And(window, set);
    }

    public override bool Contains(long id)
    {
        foreach (Operator clause in byCost)
        {
            if (!clause.Contains(id))
                return false;
        }

        return true;
    }

    /// <summary>Hits that match all clauses get the sum of their parts; in a disjunction others may be among the hits.</summary>
    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        WindowSet mine = Context.Rent();
        mine.SetOffsets(hits);
        And(window, mine);
        if (!mine.IsEmpty)
            ScoreMatches.Run(clauses, window, mine, hits, scores, boost);
        Context.Return(mine);
    }

    public override void AddBounds(long window, Span<float> bounds, float boost)
    {
        foreach (Operator clause in clauses)
            clause.AddBounds(window, bounds, boost);
    }
}
