using System.Buffers;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Matching;

/// <summary>Matches what at least one clause matches.</summary>
internal sealed class OrOperator(QueryContext context, Operator[] clauses) : Operator(context)
{
    public override long Estimate { get; } = Math.Min(context.View.State.EntryCount, Sum(clauses));

    public override OperatorCost Cost { get; } = new(clauses.Sum(clause => clause.Cost.Window), clauses.Sum(clause => clause.Cost.Probe));

    public override PlanNode Describe()
    {
        var node = new PlanNode("or");
        foreach (Operator clause in clauses)
            node.Over(clause.Describe());
        return node;
    }

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

    public override void AddBounds(long window, Span<float> bounds, float boost)
    {
        foreach (Operator clause in clauses)
            clause.AddBounds(window, bounds, boost);
    }

    /// <summary>
    /// Where the other clauses together do not reach the threshold in a block, an entry has to match this one too: of five frequent
    /// words the best entries have nearly all, and few entries do.
    /// </summary>
    public override void Narrow(long window, Span<ulong> hits, float threshold, float margin)
    {
        int blocks = hits.Length;
        float[] bounds = ArrayPool<float>.Shared.Rent((clauses.Length + 1) * blocks);
        Span<float> all = bounds.AsSpan(clauses.Length * blocks, blocks);
        all.Clear();
        for (int i = 0; i < clauses.Length; i++)
        {
            Span<float> mine = bounds.AsSpan(i * blocks, blocks);
            mine.Clear();
            clauses[i].AddBounds(window, mine, 1);
            for (int block = 0; block < blocks; block++)
                all[block] += mine[block];
        }

        WindowSet set = Context.Rent();
        Span<ulong> matches = stackalloc ulong[PostingWindow.Blocks];
        for (int i = 0; i < clauses.Length; i++)
        {
            ReadOnlySpan<float> mine = bounds.AsSpan(i * blocks, blocks);
            bool isLooked = false;
            for (int block = 0; block < blocks; block++)
            {
                if (hits[block] == 0 || (all[block] - mine[block]) * margin >= threshold)
                    continue;
                if (!isLooked)
                {
                    clauses[i].Fill(window, set);
                    set.CopyWords(matches);
                    isLooked = true;
                }

                hits[block] &= matches[block];
            }
        }

        Context.Return(set);
        ArrayPool<float>.Shared.Return(bounds);
    }

    private static long Sum(Operator[] clauses)
    {
        long sum = 0;
        foreach (Operator clause in clauses)
            sum += clause.Estimate;
        return sum;
    }
}
