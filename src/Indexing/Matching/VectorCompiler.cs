using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Vectors;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Finds the entries nearest to a vector, among those that the other conditions of its conjunction leave: the filter is asked during the search, so as many are found as are
/// wanted. Where the filter leaves few, all of them are compared instead of looking for them in the graph.
/// </summary>
internal sealed class VectorCompiler(QueryContext context)
{
    /// <summary>The graph is not asked for so few: comparing them all is no slower, and exact.</summary>
    private const long FewEntries = 1_000;

    /// <summary>A filter that leaves less than one entry in this many is gathered and compared: a walk would look at as many others for each one that counts.</summary>
    private const int ScanBelow = 50;

    /// <summary>Candidates of a walk at the least: what a recall of 0.95 among the nearest ten takes, see <c>VectorRecallTests</c>.</summary>
    private const int LeastCandidates = 96;

    private readonly IndexView view = context.View;

    /// <param name="query">What is wanted.</param>
    /// <param name="filter">Conditions beside it; null: none.</param>
    /// <exception cref="IndexQueryException">The field has no vectors, or the vector is none of it.</exception>
    public NearestOperator Compile(VectorQuery query, Operator? filter)
    {
        int field = view.Field(query.Field);
        if (view.Schema.Fields[field] is not { Analysis: FieldAnalysis.Vector } known)
            throw new IndexQueryException($"The field '{query.Field}' has no vectors.");
        if (query.Candidates is < 1 or > VectorQuery.MaxCandidates)
            throw new IndexQueryException($"The number of candidates is from 1 to {VectorQuery.MaxCandidates:N0}; {query.Candidates} is not.");

        var reader = new VectorReader(view.Tree, field, known.Vector ?? new VectorFieldOptions());
        float[] wanted = [.. query.Vector];
        try
        {
            Similarity.Check(wanted, reader.Dimensions);
        }
        catch (InvalidVectorException error)
        {
            throw new IndexQueryException($"The vector asked for in '{query.Field}': {error.Message}");
        }

        List<NearEntry> found = reader.Count == 0 ? [] : Find(reader, query, wanted, filter);
        if (query.MinimumSimilarity is { } least)
            found.RemoveAll(entry => entry.Similarity < least);
        return new NearestOperator(context, found);
    }

    private List<NearEntry> Find(VectorReader reader, VectorQuery query, float[] wanted, Operator? filter)
    {
        int count = query.Candidates;
        if (filter is null)
        {
            return query.IsExact || reader.Count <= FewEntries
                ? reader.ScanAll(wanted, count, context.CancellationToken)
                : Walk(reader, wanted, count, null, long.MaxValue) ?? [];
        }

        long left = filter.IsExact ? filter.Estimate : Count(filter);
        if (query.IsExact || left <= FewEntries || left < view.State.EntryCount / ScanBelow)
            return reader.Scan(wanted, count, Entries(filter), context.CancellationToken);

        // A filter that leaves what is far from the vector makes the walk long; then comparing is shorter.
        return Walk(reader, wanted, count, filter.Contains, 4 * left) ?? reader.Scan(wanted, count, Entries(filter), context.CancellationToken);
    }

    private List<NearEntry>? Walk(VectorReader reader, float[] wanted, int count, Func<long, bool>? accepts, long mostVisits) =>
        reader.Walk(wanted, count, LeastCandidates, accepts, mostVisits, context.CancellationToken);

    private long Count(Operator filter)
    {
        long count = 0;
        WindowSet set = context.Rent();
        for (long window = filter.Next(0); window != Operator.End; window = filter.Next(window + 1))
        {
            context.CancellationToken.ThrowIfCancellationRequested();
            filter.Fill(window, set);
            count += set.Count;
        }

        context.Return(set);
        return count;
    }

    private IEnumerable<long> Entries(Operator filter)
    {
        ushort[] offsets = new ushort[PostingWindow.Size];
        WindowSet set = context.Rent();
        for (long window = filter.Next(0); window != Operator.End; window = filter.Next(window + 1))
        {
            filter.Fill(window, set);
            int count = set.CopyTo(offsets);
            for (int i = 0; i < count; i++)
                yield return (window << PostingWindow.SizeBits) + offsets[i];
        }

        context.Return(set);
    }
}
