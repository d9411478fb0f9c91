namespace Treepie.Indexing.Matching;

/// <summary>Matches what at least one clause matches.</summary>
internal sealed class OrOperator(QueryContext context, Operator[] clauses) : Operator(context)
{
    public override long Estimate { get; } = Math.Min(context.View.State.EntryCount, Sum(clauses));

    public override long Next(long from)
    {
        long next = End;
        foreach (Operator clause in clauses)
        {
            next = Math.Min(next, clause.Next(from));
            if (next == from)
                break;
        }

        return next;
    }

    public override void Fill(long window, WindowSet set)
    {
        clauses[0].Fill(window, set);
        for (int i = 1; i < clauses.Length; i++)
            clauses[i].Or(window, set);
    }

    public override void Or(long window, WindowSet set)
    {
        foreach (Operator clause in clauses)
            clause.Or(window, set);
    }

    public override void AndNot(long window, WindowSet set)
    {
        for (int i = 0; i < clauses.Length && !set.IsEmpty; i++)
            clauses[i].AndNot(window, set);
    }

    public override bool Contains(long id)
    {
        foreach (Operator clause in clauses)
        {
            if (clause.Contains(id))
                return true;
        }

        return false;
    }

    public override void Score(long window, ReadOnlySpan<ushort> hits, Span<float> scores, float boost)
    {
        foreach (Operator clause in clauses)
            clause.Score(window, hits, scores, boost);
    }

    private static long Sum(Operator[] clauses)
    {
        long sum = 0;
        foreach (Operator clause in clauses)
            sum += clause.Estimate;
        return sum;
    }
}
